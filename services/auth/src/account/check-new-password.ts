import type { Caller } from '../caller/authenticate-caller.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { findPhoneCode } from '../phone/find-phone-code.ts';
import type { UserRow } from '../rows.ts';
import { codeHashOf, MAX_WRONG_GUESSES } from '../rules/codes/one-time-code.ts';
import { isRecovering, needsReauthentication } from '../rules/users/user-update.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as sessions from '../store/sessions.ts';

/** A password that will be the user's. */
export interface NewPassword {
  hash: string;
  /** What it was held against, and takes the place of. */
  former: string | null;
  /** Keyed hash of the nonce to use up with the change. */
  consumes: string | undefined;
}

/** A new password, and what shows that its owner wants it. */
export interface WantedPassword {
  password: string;
  /** What GET /reauthenticate sent. */
  nonce: string;
  currentPassword: string;
}

/**
 * Steps 7 to 9 of PUT /user (as in GoTrue): a nonce where the session is too old to be trusted alone,
 * the present password where that is wanted, and another one than before. At most two round trips.
 * @throws Failure `reauthentication_needed`, `reauthentication_not_valid`, `current_password_required`,
 *   `current_password_invalid` or `same_password`
 */
export async function checkNewPassword(
  context: AuthContext,
  caller: Caller,
  { password, nonce, currentPassword }: WantedPassword,
): Promise<NewPassword> {
  const { passwords } = context.outside;
  const { encrypted_password: present } = caller.person.user;
  const consumes = (await mustReauthenticate(context, caller))
    ? await checkNonce(context, caller.person.user, nonce)
    : undefined;
  if (present !== null) {
    await checkCurrentPassword(context, caller, currentPassword, present);
    if (await passwords.verify(password, present)) throw failures.samePassword();
  }
  return { hash: await passwords.hash(password), former: present, consumes };
}

/** Whoever finds an open session can guess here as often as the password's owner may be wrong, from everywhere. */
async function checkCurrentPassword(
  context: AuthContext,
  { person, claims }: Caller,
  given: string,
  present: string,
): Promise<void> {
  const { settings, limits, outside, clock } = context;
  if (!settings.SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD) return;
  if (isRecovering(claims.amr, clock.now())) return;
  if (given === '') throw failures.currentPasswordRequired();
  await limits.take('current-password', person.user.id);
  if (!(await outside.passwords.verify(given, present))) throw failures.currentPasswordInvalid();
}

async function mustReauthenticate(context: AuthContext, { person, sessionId }: Caller): Promise<boolean> {
  if (!context.settings.SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION) return false;
  const tx = context.database.autocommit();
  const startedAt = sessionId && (await sessions.findStart(tx, person.user.id, sessionId));
  return needsReauthentication(startedAt || undefined, tx.now);
}

/** @returns the keyed hash by which the nonce is used up */
async function checkNonce(context: AuthContext, user: UserRow, nonce: string): Promise<string> {
  if (nonce === '') throw failures.reauthenticationNeeded();
  const found = await findNonce(context, user, nonce);
  if (found === undefined || found.user.id !== user.id) throw failures.reauthenticationInvalid();
  return found.tokenHash;
}

/** By address and by number, as GET /reauthenticate sends it: the address first. */
async function findNonce(
  context: AuthContext,
  user: UserRow,
  nonce: string,
): Promise<oneTimeTokens.FoundCode | undefined> {
  const types = ['reauthentication_token'] as const;
  if (user.email === null || user.email === '') {
    return user.phone ? await findPhoneCode(context, { phone: user.phone, code: nonce, types }) : undefined;
  }
  const tx = context.database.autocommit();
  const hash = context.atRest.hashCode(codeHashOf(user.email, nonce));
  const found = await oneTimeTokens.guess(tx, user.email, hash, types, MAX_WRONG_GUESSES);
  return found !== undefined && found.expiresAt > tx.now ? found : undefined;
}
