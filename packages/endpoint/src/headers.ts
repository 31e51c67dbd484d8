import { cached } from './cache.ts';
import { refuse } from './error.ts';
import { isSafe } from './options.ts';
import type { HeaderInput, RequestHeaders } from './types.ts';
import { textOf } from './value.ts';

// RFC 9110 section 5.6.2
function lowerToken(option: string): (text: string) => string {
  return cached((text) => {
    refuse(/[^\w!#$%&'*+.^`|~-]|^$/, text, 'not a token', option);
    return text.toLowerCase();
  });
}

/** A method in lower case. */
export const methodName = lowerToken('method');

const headerName = lowerToken('headers');

/** Refuses a value that would begin another header. */
export function checkHeader(value: string, option: string): void {
  refuse(/[\r\n\0]/, value, 'line break', option);
}

/** Lays headers of any form over `headers`, with names in lower case. */
export function addHeaders(headers: RequestHeaders, input: HeaderInput): RequestHeaders {
  for (const [key, value] of Symbol.iterator in input ? input : Object.entries(input)) {
    if (value === undefined || !isSafe(key)) continue;
    const name = headerName(key);
    if (value === null) headers[name] = value as never;
    else {
      const text = Array.isArray(value)
        ? value.map((item) => textOf(item, name)).join(', ')
        : textOf(value, name);
      checkHeader(text, name);
      headers[name] = typeof value === 'object' ? text : value;
    }
  }
  return headers;
}
