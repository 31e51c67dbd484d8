/** What an `Authorization` header offers. */
export type Credentials =
  | { kind: 'none' }
  | { kind: 'unusable' }
  /** A token: ours when it is 40 hex digits, else the auth service's. */
  | { kind: 'token'; token: string }
  /** A name and something that is a password, unless one of the two is a token of ours. */
  | { kind: 'pair'; name: string; password: string };

/** Reads `token x`, `Bearer x` and `Basic …`, whatever the case of the first word. */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined || header.trim() === '') return { kind: 'none' };
  const [, scheme = '', value = ''] = /^\s*(\S+)\s+(\S+)\s*$/.exec(header) ?? [];
  switch (scheme.toLowerCase()) {
    case 'token':
    case 'bearer':
      return { kind: 'token', token: value };
    case 'basic':
      return readBasic(value);
    default:
      return { kind: 'unusable' };
  }
}

/** Personal access tokens are 40 lower-case hex digits. */
export function isPersonalToken(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

function readBasic(value: string): Credentials {
  const pair = Buffer.from(value, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  // Nobody has a name or password with NUL, and PostgreSQL does not take it as text.
  if (colon === -1 || pair.includes('\0')) return { kind: 'unusable' };
  const name = pair.slice(0, colon);
  const password = pair.slice(colon + 1);
  // As password first: a person whose name looks like a token must not lose the use of real ones.
  if (isPersonalToken(password)) return { kind: 'token', token: password };
  if (isPersonalToken(name)) return { kind: 'token', token: name };
  // An access token of the auth service serves as password too: git clients can only send pairs.
  if (/^[\w-]+\.[\w-]+\.[\w-]*$/.test(password) && password.length > 60)
    return { kind: 'token', token: password };
  return name === '' || password === '' ? { kind: 'unusable' } : { kind: 'pair', name, password };
}
