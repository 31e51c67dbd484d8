import type { Context } from './context.ts';
import type { Answer } from './endpoint.ts';
import { type Beginning, type Page, pageLinks, readPage, restLinks } from './rules/requests/paging.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The page a query asks for, within the limits of the settings. */
export function pageOf(
  context: Context,
  query: { page?: string | undefined; limit?: string | undefined },
): Page {
  const { DEFAULT_PAGING_NUM: fallback, MAX_RESPONSE_ITEMS: maximum } = context.settings;
  return readPage(query, { fallback, maximum });
}

/** A page of a list and what is known of the whole. */
export interface ListPage<Item = unknown> {
  page: Page;
  /** The exact count of the filtered list. */
  total: number;
  /** The total that `Link` is made of, where that is another. */
  linked?: number;
  /** Set when the whole was asked for, and the items are the beginning of it. */
  beginning?: Beginning | undefined;
  items: Item[];
}

/** The same with the headers that the reference adds to lists of commits and files. */
export function pagedAnswer(context: Context, url: string, list: ListPage): Answer {
  const { headers, ...answer } = listAnswer(context, url, list);
  const { page, total } = list;
  const pages = Math.ceil(total / page.limit);
  const paging = {
    'X-Page': page.page,
    'X-PerPage': page.limit,
    'X-Total': total,
    'X-PageCount': pages,
    'X-HasMore': page.page < pages,
  };
  const exposed = [headers?.['access-control-expose-headers'], ...Object.keys(paging)].join(', ');
  const own = Object.entries(paging).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return {
    ...answer,
    headers: { ...headers, ...Object.fromEntries(own), 'access-control-expose-headers': exposed },
  };
}

/**
 * A page of a list as an answer, with its headers.
 * @param spell makes the JSON of its items, where that takes less than it takes for any value
 */
export function listAnswer<Item>(
  context: Context,
  url: string,
  list: ListPage<Item>,
  spell?: (items: readonly Item[]) => Buffer,
): Answer {
  const address = context.links.root + url;
  const { beginning, page, total } = list;
  const link = beginning
    ? restLinks(address, beginning, total)
    : pageLinks(address, page, list.linked ?? total);
  return {
    status: 200,
    headers: {
      'x-total-count': String(total),
      'access-control-expose-headers': 'X-Total-Count, Link',
      ...(link === undefined ? {} : { link }),
    },
    ...(spell === undefined ? { body: list.items } : { body: spell(list.items), type: JSON_TYPE }),
  };
}
