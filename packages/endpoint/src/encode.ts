import { EndpointError } from './error.ts';

// Most values are names and numbers that consist of unreserved characters (RFC 3986 section 2.3). One look at each
// spares them the built-in encoder, which takes three times as long.
function isUnreserved(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const letter = code | 32;
    if (letter > 96 && letter < 123) continue;
    if ((code < 45 || code > 57 || code === 47) && code !== 95 && code !== 126) return false;
  }
  return true;
}

/**
 * Encodes the value of `option` for a URL: everything but unreserved characters (the allow set U of RFC 6570 section
 * 3.2.1) or, for `reserved`, everything but those, reserved ones and triplets (U+R, also the rule for literals).
 */
export function encode(text: string, option: string, reserved?: boolean): string {
  if (isUnreserved(text)) return text;
  try {
    return reserved
      ? text.replace(/%(?![\da-f]{2})|[^!#-;=?-[\]_a-z~]+/gi, encodeURIComponent)
      : encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%2${'1789A'["!'()*".indexOf(mark)]}`);
  } catch {
    throw new EndpointError('lone surrogate', option);
  }
}
