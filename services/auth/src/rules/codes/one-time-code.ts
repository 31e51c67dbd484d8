import { createHash } from 'node:crypto';
import type { TokenType } from '../../rows.ts';

/** After so many wrong guesses a code is spent, however much time it has left; its link is not. */
export const MAX_WRONG_GUESSES = 10;

/** What a code is hashed with: its address, so that the same digits for somebody else are another code. */
export function codeHashOf(address: string, code: string): string {
  return createHash('sha224')
    .update(address + code)
    .digest('hex');
}

/** Digits of a code: 6 to 10, anything else means 6. */
export function codeDigits(configured: number): number {
  return configured >= 6 && configured <= 10 ? configured : 6;
}

/** Which stored codes each requested type may match: `email` is whichever of the two there is. */
export const tokenTypesOf = {
  signup: ['confirmation_token'],
  invite: ['confirmation_token'],
  recovery: ['recovery_token'],
  magiclink: ['recovery_token'],
  email: ['confirmation_token', 'recovery_token'],
  email_change: ['email_change_token_new', 'email_change_token_current'],
  sms: ['phone_token'],
  phone_change: ['phone_change_token'],
} as const satisfies Readonly<Record<string, readonly TokenType[]>>;

/** What can be verified. */
export type VerificationType = keyof typeof tokenTypesOf;

/** Whether there are codes of the type at all. */
export function isVerificationType(type: string): type is VerificationType {
  return Object.hasOwn(tokenTypesOf, type);
}

/** What the answer calls the verification: what was asked for, or what an `email` code turned out to be. */
export function answeredType(asked: VerificationType, found: TokenType): string {
  if (asked !== 'email') return asked;
  return found === 'confirmation_token' ? 'signup' : 'magiclink';
}

/** `amr.method` of a session that was opened by what was sent, whatever that was for. */
export const SENT_METHOD = 'otp';

const LINK_METHODS: Readonly<Record<string, string>> = {
  signup: 'email/signup',
  invite: 'invite',
  recovery: 'recovery',
  magiclink: 'magiclink',
  email_change: 'email_change',
};

/** All of them: who has the session read a mail or a message. */
export const SENT_METHODS: readonly string[] = [SENT_METHOD, ...Object.values(LINK_METHODS)];

/**
 * `amr.method` of a session that the verifier of a link's code opens: there the protocol tells what the link was for, by which
 * applications know that somebody is about to choose a new password.
 * @param type what the answer calls the verification
 */
export function methodOfLink(type: string): string {
  return LINK_METHODS[type] ?? SENT_METHOD;
}
