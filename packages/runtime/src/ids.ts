import { randomBytes } from 'node:crypto';

/** `bytes` random bytes as base64url text: 4 characters for 3 bytes. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
