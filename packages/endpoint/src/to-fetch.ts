import { isRawBody, isStream } from './body.ts';
import { EndpointError } from './error.ts';
import type { RequestOptions } from './types.ts';

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/**
 * The arguments of `fetch` for a request, with `signal`, `redirect` and the like from its `request` settings. The
 * method is in upper case, because `fetch` sends `patch` as it is; a body that is not text, bytes, a form or a stream
 * is serialised as JSON.
 */
export function toFetch({
  method,
  url,
  headers,
  body,
  request,
}: RequestOptions): [url: string, init: RequestInit] {
  const init = {
    ...request,
    method: method.toUpperCase(),
    headers: { ...headers },
    body: body === undefined || isRawBody(body) ? body : serialise(body),
    ...(isStream(body) && { duplex: 'half' }),
  };
  return [url, init as unknown as RequestInit];
}

function serialise(body: unknown): string {
  try {
    // A bigint is a number with all its digits.
    return JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? rawJSON(String(value)) : value));
  } catch (cause) {
    throw new EndpointError(String(cause), 'body');
  }
}
