import type { AuthContext } from '../context.ts';
import type { TokenType } from '../rows.ts';
import { codeHashOf, MAX_WRONG_GUESSES } from '../rules/codes/one-time-code.ts';
import { isStillFor } from '../rules/codes/still-for.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as phoneCodes from '../store/phone-codes.ts';
import { testCodeFor } from './prepare-phone-code.ts';

/** A code that somebody typed, and where it was sent. */
export interface TypedCode {
  /** As numbers are stored. */
  phone: string;
  code: string;
  types: readonly TokenType[];
}

/**
 * Finds the living code that was typed; what does not match counts as a guess. One round trip, and with Twilio Verify
 * a request to it, which is made only while a code is open and for no more than the permitted guesses.
 * @returns undefined for everything that is no living code of the account's present or wanted number
 * @throws Error when the provider that knows the codes gives no answer
 */
export async function findPhoneCode(
  context: AuthContext,
  typed: TypedCode,
): Promise<oneTimeTokens.FoundCode | undefined> {
  const found = await find(context, typed);
  if (found === undefined || found.expiresAt <= context.clock.now()) return undefined;
  return isStillFor(found) ? found : undefined;
}

async function find(context: AuthContext, typed: TypedCode): Promise<oneTimeTokens.FoundCode | undefined> {
  const { database, atRest, outside, clock } = context;
  const { phone, code, types } = typed;
  const tx = database.autocommit();
  if (outside.verifySms === undefined || testCodeFor(context, phone, clock.now()) !== undefined) {
    const hash = atRest.hashCode(codeHashOf(phone, code));
    return await oneTimeTokens.guess(tx, phone, hash, types, MAX_WRONG_GUESSES);
  }
  const open = await phoneCodes.takeAttempt(tx, phone, types, MAX_WRONG_GUESSES);
  const [newest] = open;
  // Twilio knows numbers, not accounts: where several wait for the same one, nobody can tell whose code it is.
  if (newest === undefined || open.some(({ user }) => user.id !== newest.user.id)) return undefined;
  return (await outside.verifySms(phone, code)) ? newest : undefined;
}
