/** Which part of a list is wanted. */
export interface Page {
  page: number;
  limit: number;
  offset: number;
}

/** `page` from 1, everything else means 1; `limit` clamped to the maximum, 0 and nonsense mean the default. */
export function readPage(
  query: { page?: string | undefined; limit?: string | undefined },
  sizes: { fallback: number; maximum: number },
): Page {
  const page = positive(query.page) ?? 1;
  const limit = Math.min(positive(query.limit) ?? sizes.fallback, sizes.maximum);
  return { page, limit, offset: (page - 1) * limit };
}

function positive(text: string | undefined): number | undefined {
  const number = /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
  return number > 0 ? number : undefined;
}

/**
 * The `Link` header of a page: `next` and `last`, then `first` and `prev`, with all parameters of the request;
 * undefined when everything fits one page.
 */
export function pageLinks(address: string, page: Page, total: number): string | undefined {
  const last = Math.max(1, Math.ceil(total / page.limit));
  const url = new URL(address);
  const link = (rel: string, number: number) => {
    url.searchParams.set('page', String(number));
    url.searchParams.sort();
    return `<${url.href}>; rel="${rel}"`;
  };
  const links = [
    ...(page.page < last ? [link('next', page.page + 1), link('last', last)] : []),
    ...(page.page > 1 ? [link('first', 1), link('prev', page.page - 1)] : []),
  ];
  return links.length === 0 ? undefined : links.join(',');
}
