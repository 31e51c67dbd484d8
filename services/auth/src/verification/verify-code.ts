import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import { instant } from '../rows.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import {
  answeredType,
  codeHashOf,
  isVerificationType,
  MAX_WRONG_GUESSES,
  methodOfLink,
  SENT_METHOD,
  tokenTypesOf,
} from '../rules/codes/one-time-code.ts';
import { isStillFor } from '../rules/codes/still-for.ts';
import { hasVerified } from '../rules/factors/assurance.ts';
import { isStrangers } from '../rules/users/admin-user.ts';
import { isBanned } from '../rules/users/ban.ts';
import { prepareSignIn, type SignedIn } from '../sessions/prepare-sign-in.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as sessions from '../store/sessions.ts';
import type { Proof } from './check-verification.ts';
import { confirmEmailChange } from './confirm-email-change.ts';

/** A verification whose fields are in order. */
export interface Verification {
  type: string;
  proof: Proof;
  /** First password of an invited user; ignored when there is one. */
  password: string;
  /** The answer is an address that others may see: a link that only its asker can use ends in a code there. */
  inAddress: boolean;
  origin: Origin;
}

/** Either somebody is signed in, or the other address has to agree to a change first. */
export type Verified = (SignedIn & { type: string }) | 'other-address-next';

/**
 * Finds the code or link that was presented, of any of the types. One round trip.
 * @throws Failure `otp_expired` for everything that is no living code of the user's present address
 */
export async function findCode(
  context: AuthContext,
  type: string,
  proof: Proof,
): Promise<oneTimeTokens.FoundCode> {
  const { database, atRest } = context;
  const invalid = 'link' in proof ? failures.linkInvalid : failures.codeInvalid;
  // Codes of other types are never sent, so none can be found.
  if (!isVerificationType(type)) throw invalid();
  const tx = database.autocommit();
  const types = tokenTypesOf[type];
  const found =
    'link' in proof
      ? await oneTimeTokens.findByLink(tx, atRest.hashCode(proof.link), types)
      : await oneTimeTokens.guess(
          tx,
          proof.address,
          atRest.hashCode(codeHashOf(proof.address, proof.code)),
          types,
          MAX_WRONG_GUESSES,
        );
  if (found === undefined || found.expiresAt <= tx.now || !isStillFor(found)) throw invalid();
  return found;
}

/**
 * Signs in the bearer of a one-time code and confirms the address it was sent to. Of several requests with the same
 * code one succeeds. Two round trips.
 * @returns the session or the code for one, and what the answer calls the verification
 * @throws Failure `otp_expired` for everything that is no living code
 */
export async function verifyCode(context: AuthContext, verification: Verification): Promise<Verified> {
  const { proof, type, inAddress, origin } = verification;
  const invalid = 'link' in proof ? failures.linkInvalid : failures.codeInvalid;
  if (type === 'email_change') {
    const find = async () => withoutUnused(await findCode(context, type, proof), inAddress);
    const signedIn = await confirmEmailChange(context, find, invalid, origin);
    return signedIn === undefined ? 'other-address-next' : { ...signedIn, type };
  }
  const found = withoutUnused(await findCode(context, type, proof), inAddress);
  const { user, tokenType, challenge } = found;
  const tx = context.database.autocommit();
  if (isBanned(instant(user.banned_until), tx.now)) throw failures.userBanned();

  const newPasswordHash = await firstPassword(context, found, verification.password);
  const answered = isVerificationType(type) ? answeredType(type, tokenType) : type;
  const signIn = challenge
    ? prepareSignIn(context, methodOfLink(answered), { challenge })
    : prepareSignIn(context, SENT_METHOD, undefined);
  const confirms = user.email_confirmed_at === null ? 'email' : undefined;
  const audit = confirms ? auditEntry(user, 'user_signedup', BY_EMAIL) : auditEntry(user, 'login', BY_EMAIL);
  const opened = await sessions.open(tx, {
    userId: user.id,
    ...signIn.row,
    consumes: found,
    confirms,
    // Only the code of a sign-up speaks for the password that came with it.
    forgetsUnproven: tokenType === 'recovery_token',
    newPasswordHash,
    trace: { ...origin, audit: [audit] },
  });
  if (opened === undefined) throw invalid();
  return {
    ...(await signIn.end(opened, tx.now, origin)),
    type: answered,
  };
}

/** Whoever holds the code itself needs no verifier: it did not come through an address. */
function withoutUnused(found: oneTimeTokens.FoundCode, inAddress: boolean): oneTimeTokens.FoundCode {
  return inAddress ? found : { ...found, challenge: null };
}

/**
 * The password of who has none, or will have none: an invited user, somebody who asked for a link only. Who has a second
 * factor sets one with that shown, as any other password.
 */
async function firstPassword(
  context: AuthContext,
  { user, tokenType, dropsPassword }: oneTimeTokens.FoundCode,
  password: string,
): Promise<string | undefined> {
  // With the password of an account nobody had proven its factors go: as `sessions.open` says it.
  const isFresh = (dropsPassword || tokenType === 'recovery_token') && isStrangers(user);
  if (password === '' || (!isFresh && (user.encrypted_password !== null || hasVerified(user.factors))))
    return undefined;
  await acceptNewPassword(context, password);
  return await context.outside.passwords.hash(password);
}
