/**
 * Encodes a value for a URL: everything but unreserved characters (the allow set U of RFC 6570 section 3.2.1) or, for
 * `reserved`, everything but those, reserved ones and triplets (U+R, also the rule for literals). Half a surrogate pair
 * becomes U+FFFD, as in every URL of the platform.
 */
export function encode(text: string, reserved?: boolean): string {
  // Most values are names and numbers; one look at each spares them the rest.
  if (/^[\w.~-]*$/.test(text)) return text;
  text = text.toWellFormed();
  return reserved
    ? text.replace(/%(?![\da-f]{2})|[^!#-;=?-[\]_a-z~]+/gi, encodeURIComponent)
    : encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%2${'1789A'["!'()*".indexOf(mark)]}`);
}
