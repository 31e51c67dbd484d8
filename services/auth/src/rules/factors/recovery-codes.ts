import { base32 } from './base32.ts';

/** Codes of a set. */
export const CODES_OF_A_SET = 10;

/**
 * 80 bits: guessed at a million times a second, one of ten is hit after a thousand million years. So wrong ones lock
 * nothing, and a thief who locks the other factors cannot take this way from the owner.
 */
export const RECOVERY_CODE_BYTES = 10;

/** Without letters that look like digits (Crockford); what is typed for them is taken for the digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A code as it is shown. */
export function recoveryCode(bytes: Buffer): string {
  return base32(bytes, ALPHABET);
}

/** What somebody typed, as it was shown: case, blanks and dashes are theirs. */
export function normalizeRecoveryCode(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
}

/**
 * Whether a client says in `X-Client-Info` that it is a JavaScript one that has a list for such factors: from 2.116 on (the
 * library of sign-in has the version of the whole).
 */
export function knowsRecoveryCodes(clientInfo = ''): boolean {
  const [, major, minor] = /\b(?:auth|gotrue|supabase)-js\/(\d{1,4})\.(\d{1,4})/.exec(clientInfo) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 116);
}
