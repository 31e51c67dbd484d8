import { inHeader } from '../rules/redirects/redirect.ts';

/** What an application is told of a sign-in that came to nothing. */
export interface ErrorParameters {
  error?: string;
  error_code?: string;
  error_description?: string;
}

/**
 * The address of an application with an error, in the query and in the fragment: one is for servers, the other for
 * pages. A fragment that is there already stays: single-page applications route by it.
 */
export function withError(target: string, parameters: ErrorParameters): string {
  const [address = '', ...fragment] = target.split('#');
  const query = new URLSearchParams({ ...parameters }).toString();
  const own = fragment.length === 0 ? '' : `#${fragment.join('#')}`;
  return inHeader(`${withQuery(address, query)}${own}#${query}&sb=`);
}

/** Likewise in the query alone, for the site's own pages. */
export function withErrorQuery(target: string, parameters: ErrorParameters): string {
  const [address = '', ...fragment] = target.split('#');
  const query = new URLSearchParams({ ...parameters }).toString();
  const own = fragment.length === 0 ? '' : `#${fragment.join('#')}`;
  return inHeader(`${withQuery(address, query)}${own}`);
}

function withQuery(address: string, query: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}${query}`;
}
