import { type Failure, httpStatus } from '@croft/failure';
import { UNEXPECTED } from '../failures/request.ts';
import { inHeader } from '../rules/redirect.ts';

/** OAuth's name for each status; what has none is the server's or the account's affair. */
const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  404: 'invalid_request',
  409: 'temporarily_unavailable',
  429: 'temporarily_unavailable',
  503: 'temporarily_unavailable',
  504: 'temporarily_unavailable',
};

/** What an application is told of a sign-in that came to nothing. */
export interface ErrorParameters {
  error?: string;
  error_code?: string;
  error_description?: string;
}

/** A refusal in the words of OAuth. */
export function errorParameters(failure: Failure): ErrorParameters {
  const error =
    failure.code === UNEXPECTED
      ? 'server_error'
      : (OAUTH_ERRORS[httpStatus[failure.kind]] ?? 'access_denied');
  return { error, error_code: failure.code, error_description: failure.message };
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
