/** Schemes that browsers carry out instead of going there. */
const CARRIED_OUT = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']);

/** Why an application cannot be sent its answers at an address (RFC 6749 §3.1.2); undefined when it can. */
export function redirectUriFault(uri: string): string | undefined {
  if (!URL.canParse(uri)) return 'is no absolute address';
  const { protocol, username, password, hash } = new URL(uri);
  if (CARRIED_OUT.has(protocol)) return `has a scheme that cannot be gone to`;
  if (uri.includes('#') || hash !== '') return 'has a fragment';
  if (username !== '' || password !== '') return 'has credentials in it';
  // What a header cannot carry, or a parser would take out.
  if (/[^\x21-\x7e]/.test(uri)) return 'has characters that an address cannot have';
  return undefined;
}

/**
 * Whether an address is one of those an application registered. A slash at the end makes no difference; for programs on people's own
 * machines neither does the port of a loopback address, which they get when they start (RFC 8252 §7.3).
 */
export function isRegistered(
  uri: string,
  application: { isConfidential: boolean; redirectUris: readonly string[] },
): boolean {
  if (redirectUriFault(uri) !== undefined) return false;
  const known = new Set(application.redirectUris.map(bare));
  return known.has(bare(uri)) || (!application.isConfidential && known.has(bare(withoutLoopbackPort(uri))));
}

const bare = (uri: string) => uri.replace(/\/$/, '');

/** Whether an address leads to the machine of who goes there. */
export const isLoopback = (uri: string): boolean => /^127(\.\d+){3}$|^\[::1\]$/.test(new URL(uri).hostname);

function withoutLoopbackPort(uri: string): string {
  const url = new URL(uri);
  if (url.protocol !== 'http:' || !isLoopback(uri)) return uri;
  url.port = '';
  return url.href;
}

/** The address with what is answered in its query. */
export function withAnswer(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(answer)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}
