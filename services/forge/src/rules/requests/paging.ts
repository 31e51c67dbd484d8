/** Which part of a list is wanted. */
export interface Page {
  page: number;
  limit: number;
  offset: number;
}

/** A page beyond every list. */
const LAST_PAGE = 999_999_999;
/** No list is longer; with the largest page behind it, still an `integer` of the database. */
const LAST_OFFSET = 2_000_000_000;

/** `page` from 1, everything else means 1; `limit` clamped to the maximum, 0 and nonsense mean the default. */
export function readPage(
  query: { page?: string | undefined; limit?: string | undefined },
  sizes: { fallback: number; maximum: number },
): Page {
  const page = positive(query.page) ?? 1;
  const limit = Math.min(positive(query.limit) ?? sizes.fallback, sizes.maximum);
  return { page, limit, offset: Math.min((page - 1) * limit, LAST_OFFSET) };
}

function positive(text: string | undefined): number | undefined {
  const number = /^\d+$/.test(text ?? '') ? Math.min(Number(text), LAST_PAGE) : 0;
  return number > 0 ? number : undefined;
}

/**
 * The `Link` header of a page: `next` and `last`, then `first` and `prev`, with all parameters of the request;
 * undefined when everything fits one page.
 */
export function pageLinks(address: string, page: Page, total: number): string | undefined {
  const last = Math.max(1, Math.ceil(total / page.limit));
  const link = linksTo(address);
  const links = [
    ...(page.page < last ? [link('next', page.page + 1), link('last', last)] : []),
    ...(page.page > 1 ? [link('first', 1), link('prev', page.page - 1)] : []),
  ];
  return links.length === 0 ? undefined : links.join(',');
}

/** The beginning of a list that was asked for as a whole: how much of it is shown, and in pages of what size the rest is. */
export interface Beginning {
  shown: number;
  limit: number;
}

/**
 * What to show of a list that is longer than an answer may be: as many whole pages as there are, so that a page follows.
 * @param loaded entries at hand
 * @param maximum of a page
 * @returns undefined when that is all, and when there are none any more
 */
export function planBeginning(loaded: number, total: number, maximum: number): Beginning | undefined {
  if (loaded === 0 || loaded >= total) return undefined;
  const limit = Math.min(loaded, maximum);
  return { shown: loaded - (loaded % limit), limit };
}

/** The `Link` header of such a beginning: the page where the rest begins, and the last one. */
export function restLinks(address: string, { shown, limit }: Beginning, total: number): string {
  const link = linksTo(address, limit);
  return [link('next', shown / limit + 1), link('last', Math.ceil(total / limit))].join(',');
}

function linksTo(address: string, limit?: number): (rel: string, page: number) => string {
  const url = new URL(address);
  if (limit !== undefined) url.searchParams.set('limit', String(limit));
  return (rel, page) => {
    url.searchParams.set('page', String(page));
    url.searchParams.sort();
    return `<${url.href}>; rel="${rel}"`;
  };
}
