import { createHmac } from 'node:crypto';

/** A request to be signed by the rules of OAuth 1.0a (RFC 5849 §3.4). */
export interface Unsigned {
  method: 'GET' | 'POST';
  /** With its query, if it has one. */
  url: string;
  /** Parameters of the protocol, without the signature. */
  oauth: Readonly<Record<string, string>>;
}

/** Who signs. */
export interface Secrets {
  consumer: string;
  /** Empty before there is a token. */
  token: string;
}

/** The header `Authorization` of a request, with its signature (HMAC-SHA1, the only one Twitter takes). */
export function signedHeader(request: Unsigned, secrets: Secrets): string {
  const oauth = { ...request.oauth, oauth_signature: signatureOf(request, secrets) };
  const parts = Object.entries(oauth).map(([name, value]) => `${encoded(name)}="${encoded(value)}"`);
  return `OAuth ${parts.join(', ')}`;
}

/** The signature alone: of the method, the address without its query, and all parameters in the order of their bytes. */
export function signatureOf({ method, url, oauth }: Unsigned, { consumer, token }: Secrets): string {
  const address = new URL(url);
  const parameters = [...address.searchParams, ...Object.entries(oauth)]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const base = [method, address.origin + address.pathname, parameters].map(encoded).join('&');
  return createHmac('sha1', `${encoded(consumer)}&${encoded(token)}`)
    .update(base)
    .digest('base64');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Everything but letters, digits and `-._~` as `%XX` (RFC 5849 §3.6). */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
