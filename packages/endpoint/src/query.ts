import { encode } from './encode.ts';
import { textOf } from './value.ts';

/** One query parameter with a leading `&`; nothing for `null` and an empty list, which are no values in templates either. */
export function queryPair(name: string, value: unknown): string {
  let text: string;
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== undefined && item !== null);
    if (!items.length) return '';
    text = items.map((item) => textOf(item, name)).join();
  } else if (value === null) return '';
  else text = textOf(value, name);
  // A search keeps the plus signs between its words.
  const encoded =
    name === 'q'
      ? text
          .split('+')
          .map((word) => encode(word, name))
          .join('+')
      : encode(text, name);
  return `&${encode(name, name)}=${encoded}`;
}

/** Puts pairs that begin with `&` behind the query a url has already, and before its fragment. */
export function addQuery(url: string, pairs: string): string {
  if (!pairs) return url;
  const head = url.split('#', 1)[0] as string;
  const sign = head.includes('?') ? (/[?&]$/.test(head) ? '' : '&') : '?';
  return head + sign + pairs.slice(1) + url.slice(head.length);
}
