import { createHash, timingSafeEqual } from 'node:crypto';

/** What the verifier that comes with a code has to fit (RFC 7636). */
export interface CodeChallenge {
  challenge: string;
  method: 'S256' | 'plain';
}

/** The challenge of a request; undefined when it has none, `malformed` when it is none of the two kinds. */
export function readChallenge(challenge: string, method: string): CodeChallenge | undefined | 'malformed' {
  if (challenge === '' && method === '') return undefined;
  // RFC 7636 §4.3: plain when nothing is said.
  const kind = method === '' ? 'plain' : method;
  if (kind !== 'S256' && kind !== 'plain') return 'malformed';
  return /^[A-Za-z0-9._~-]{43,128}$/.test(challenge) ? { challenge, method: kind } : 'malformed';
}

/** Whether a verifier is the one that a challenge was made of (RFC 7636 §4.6). */
export function fits(verifier: string, { challenge, method }: CodeChallenge): boolean {
  return equals(method === 'plain' ? verifier : sha256(verifier).toString('base64url'), challenge);
}

/** How secrets and codes are kept. */
export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in a time that tells nothing. */
export const equals = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other));
