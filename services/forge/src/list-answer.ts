import { Readable } from 'node:stream';
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

/** Whether a page of a list is wanted. Clients that want none say so with a page of 1 and a limit of 0, or nothing. */
export function asksForPage(query: { page?: string | undefined; limit?: string | undefined }): boolean {
  return Number(query.limit) > 0 || Number(query.page) > 1;
}

/** What the reference has no pages of comes as a whole; of more than this the beginning, and a `Link` to the rest. */
export const WHOLE_LIST: Page = { page: 1, limit: 1000, offset: 0 };

/** Bytes of text that are loaded of a list at once: a page may have fifty of a megabyte each. */
export const PART_BYTES = 1024 * 1024;

/**
 * The items of a page that its first part left, a part at a time, each loaded when the one before has been taken;
 * undefined when there are none.
 */
export function loadRest<Left, Part extends { left: readonly Left[] }, Item>(
  first: Part,
  load: (left: Part['left']) => Part | Promise<Part>,
  present: (part: Part) => Promise<Item[]>,
): AsyncIterable<Item[]> | undefined {
  let { left } = first;
  return left.length === 0 ? undefined : parts();

  async function* parts() {
    while (left.length > 0) {
      const part = await load(left);
      left = part.left;
      yield await present(part);
    }
  }
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
  /** More items of the page, when it has more text than should be in memory at once. */
  rest?: AsyncIterable<Item[]> | undefined;
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
  const { beginning, page, rest, total } = list;
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
    ...(rest !== undefined
      ? { body: Readable.from(inParts(list.items, rest, spell), { objectMode: false }), type: JSON_TYPE }
      : spell === undefined
        ? { body: list.items }
        : { body: spell(list.items), type: JSON_TYPE }),
  };
}

/** One JSON array of all items, at the pace of its reader. */
async function* inParts<Item>(
  items: readonly Item[],
  rest: AsyncIterable<Item[]>,
  spell: (some: readonly Item[]) => Buffer = (some) => Buffer.from(JSON.stringify(some)),
): AsyncGenerator<Buffer> {
  yield spell(items).subarray(0, -1);
  for await (const more of rest) {
    if (more.length > 0) yield Buffer.concat([Buffer.from(','), spell(more).subarray(1, -1)]);
  }
  yield Buffer.from(']');
}
