import { createHash } from 'node:crypto';

/** Digits a phone number has at most (E.164), and so what stands in its place. */
const PHONE_LENGTH = 15;

/**
 * What stands in place of an address or an id of somebody who was deleted and whose row is kept: nobody can read it back, and
 * who knows the user's id and the value can tell that it was theirs.
 */
export function obfuscated(userId: string, value: string): string {
  return createHash('sha256').update(`${userId}${value}`).digest('base64url');
}

/** Likewise in place of a number. */
export const obfuscatedPhone = (userId: string, phone: string): string =>
  obfuscated(userId, phone).slice(0, PHONE_LENGTH);
