import { createHash } from 'node:crypto';
import type { SignInTokenType } from '../rows.ts';

/** After so many wrong guesses a code is spent, however much time it has left. */
export const MAX_WRONG_GUESSES = 10;

/** What links carry in place of the code: hex SHA-224 of address and code, as the protocol has it. */
export function tokenHashOf(address: string, code: string): string {
  return createHash('sha224')
    .update(address + code)
    .digest('hex');
}

/** Digits of a code: 6 to 10, anything else means 6. */
export function codeDigits(configured: number): number {
  return configured >= 6 && configured <= 10 ? configured : 6;
}

/** A code found in the database, as far as its acceptance depends on it. */
export interface SentCode {
  sentAt: Date;
  wrongGuesses: number;
}

/** Whether a code that was found may be used: it is neither too old nor guessed at too often. */
export function isAcceptable(code: SentCode, now: Date, lifetimeMs: number): boolean {
  return now.getTime() < code.sentAt.getTime() + lifetimeMs && code.wrongGuesses < MAX_WRONG_GUESSES;
}

/** Which stored codes each requested type may match: `email` is whichever of the two there is. */
export const tokenTypesOf = {
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email: ['confirmation_token', 'recovery_token'],
} as const satisfies Readonly<Record<string, readonly SignInTokenType[]>>;

/** The types of verification that sign somebody in by mail. */
export type VerificationType = keyof typeof tokenTypesOf;

/** What the answer calls the verification: what was asked for, or what an `email` code turned out to be. */
export function answeredType(asked: VerificationType, found: SignInTokenType): string {
  if (asked !== 'email') return asked;
  return found === 'confirmation_token' ? 'signup' : 'magiclink';
}
