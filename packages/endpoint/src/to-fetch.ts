import { isRawBody } from './body.ts';
import type { FetchInit, RequestOptions } from './types.ts';

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
}: RequestOptions): [url: string, init: FetchInit] {
  const init = {
    ...request,
    method: method.toUpperCase(),
    headers,
    body: isRawBody(body)
      ? body
      : JSON.stringify(body, (_, value) =>
          typeof value === 'bigint' && BigInt.asIntN(54, value) === value ? Number(value) : value,
        ),
    // what a stream needs, and the only value there is
    duplex: 'half',
  };
  return [url, init as unknown as FetchInit];
}
