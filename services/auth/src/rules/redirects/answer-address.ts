import { inHeader } from './redirect.ts';

/** What an application is told of a sign-in that came to nothing. */
export interface ErrorParameters {
  error?: string;
  error_code?: string;
  error_description?: string;
}

/**
 * The address of an application with an answer, in the query and in the fragment: one is for servers, the other for
 * pages. A fragment that is there already stays: single-page applications route by it.
 */
export function withAnswer(target: string, parameters: ErrorParameters | { message: string }): string {
  const query = new URLSearchParams({ ...parameters }).toString();
  return inHeader(`${withQuery(target, parameters)}#${query}&sb=`);
}

/** Likewise in the query alone: for the site's own pages, and for the code of a sign-in, which servers exchange. */
export function withQuery(
  target: string,
  parameters: ErrorParameters | { code: string } | { message: string },
): string {
  const [address = '', ...fragment] = target.split('#');
  const query = new URLSearchParams({ ...parameters }).toString();
  const own = fragment.length === 0 ? '' : `#${fragment.join('#')}`;
  return inHeader(`${address}${address.includes('?') ? '&' : '?'}${query}${own}`);
}
