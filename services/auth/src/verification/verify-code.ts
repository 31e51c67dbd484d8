import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant, type UserRow } from '../rows.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { isBanned } from '../rules/ban.ts';
import {
  answeredType,
  isAcceptable,
  MAX_WRONG_GUESSES,
  tokenHashOf,
  tokenTypesOf,
  type VerificationType,
} from '../rules/one-time-code.ts';
import { checkNewPassword } from '../rules/password-strength.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import { passwordPolicy } from '../settings.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as sessions from '../store/sessions.ts';
import type { Proof } from './check-verification.ts';

/** A verification whose fields are in order. */
export interface Verification {
  type: string;
  proof: Proof;
  /** First password of an invited user; ignored when there is one. */
  password: string;
  origin: Origin;
}

/**
 * Signs in the bearer of a one-time code and confirms the address it was sent to. Of several requests with the same
 * code one succeeds. Two round trips.
 * @returns the session, and what the answer calls the verification
 * @throws Failure `otp_expired` for everything that is no living code
 */
export async function verifyCode(
  context: AuthContext,
  verification: Verification,
): Promise<{ issued: IssuedSession; type: string }> {
  const { proof, type, origin } = verification;
  const invalid = 'hash' in proof ? failures.linkInvalid : failures.codeInvalid;
  // Codes of other types are never sent, so none can be found.
  if (!isSignInType(type)) throw invalid();
  const { database, settings, atRest } = context;
  const tx = database.autocommit();
  const tokenHash = atRest.hashCode('hash' in proof ? proof.hash : tokenHashOf(proof.email, proof.code));
  const types = tokenTypesOf[type];
  const found =
    'hash' in proof
      ? await oneTimeTokens.findByHash(tx, tokenHash, types)
      : await oneTimeTokens.guess(tx, proof.email, tokenHash, types, MAX_WRONG_GUESSES);
  if (found === undefined || !isAcceptable(found, tx.now, settings.MAILER_OTP_EXP)) throw invalid();
  const { user } = found;
  if (isBanned(instant(user.banned_until), tx.now)) throw failures.userBanned();

  const newPasswordHash = await firstPassword(context, user, verification.password);
  const session = prepareSession('otp');
  const confirms = user.email_confirmed_at === null;
  const audit = confirms ? auditEntry(user, 'user_signedup', BY_EMAIL) : auditEntry(user, 'login', BY_EMAIL);
  const opened = await sessions.open(tx, {
    userId: user.id,
    session: session.row,
    consumes: tokenHash,
    confirms,
    newPasswordHash,
    trace: { ...origin, audit: [audit] },
  });
  if (opened === undefined) throw invalid();
  return {
    issued: issueFirstTokens(context, opened, session, tx.now),
    type: answeredType(type, found.tokenType),
  };
}

function isSignInType(type: string): type is VerificationType {
  return Object.hasOwn(tokenTypesOf, type);
}

async function firstPassword(
  context: AuthContext,
  user: UserRow,
  password: string,
): Promise<string | undefined> {
  if (password === '' || user.encrypted_password !== null) return undefined;
  checkNewPassword(password, passwordPolicy(context.settings));
  return await context.passwords.hash(password);
}
