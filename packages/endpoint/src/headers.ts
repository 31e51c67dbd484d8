import { cached } from './cache.ts';
import { refuse } from './error.ts';
import { isSafe } from './options.ts';
import type { HeaderInput, HeaderValue, RequestHeaders } from './types.ts';
import { textOf } from './value.ts';

/** The name of a method or a header in lower case; what is no token (RFC 9110 section 5.6.2) is refused. */
export const lowerToken = cached((text, option = 'headers') => {
  refuse(/[^!-9;-~]|^$/, text, 'malformed', option);
  return text.toLowerCase();
});

/** Lays headers of any form over `headers`, with names in lower case; `null` takes one away. */
export function addHeaders(headers: RequestHeaders, input: HeaderInput | null | undefined): RequestHeaders {
  input ??= {};
  const given = (Symbol.iterator in input ? Object.fromEntries(input) : input) as Record<string, HeaderValue>;
  for (const key of Object.keys(given)) {
    const value = given[key];
    const name = lowerToken(key);
    if (value === undefined || !isSafe(name)) continue;
    if (value === null) delete headers[name];
    else {
      headers[name] = Array.isArray(value)
        ? value.map((item) => textOf(item, name)).join(', ')
        : textOf(value, name);
      // A value cannot begin another header.
      refuse(/[\r\n\0]/, headers[name], 'line break', name);
    }
  }
  return headers;
}
