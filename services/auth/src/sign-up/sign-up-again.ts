import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant, type Person } from '../rows.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { pendingPerson, uuidFrom } from '../rules/disguised-user.ts';
import { decideSignUp } from '../rules/sign-up.ts';
import { issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as auditLog from '../store/audit-log.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { prepareConfirmation } from '../verification/prepare-confirmation.ts';
import type { CheckedSignUp, SignUpResult } from './sign-up.ts';

/**
 * A sign-up with an address somebody has. Unless addresses need no confirmation, the answer is the one a new account
 * would get: it repeats what was sent, with an id that stays the same for the address.
 * Whether it is confirmed or not, it is given once in `SMTP_MAX_FREQUENCY`.
 * @throws Failure `over_email_send_rate_limit` before that, `user_already_exists` when there is nothing to hide
 */
export async function signUpAgain(context: AuthContext, signUp: CheckedSignUp): Promise<SignUpResult> {
  const { database, settings, atRest } = context;
  const { draft, origin } = signUp;
  const tx = database.autocommit();
  const existing = await users.findByEmail(tx, draft.email);
  const account = existing && { confirmed: existing.user.confirmed_at !== null };
  const decision = decideSignUp(account, settings.MAILER_AUTOCONFIRM);
  // The account went away between the two statements.
  if (existing === undefined || decision === 'create') throw failures.tryAgain();
  const { user, identities } = existing;
  const repeated = repeatedSignUp(signUp, existing);
  const fauxIdentityId = uuidFrom(atRest.stableId(`identity ${draft.email}`));

  const limit = mailLimit(instant(user.signup_answered_at), settings.SMTP_MAX_FREQUENCY, tx.now);

  switch (decision) {
    case 'confirm-again': {
      const confirmation = prepareConfirmation(context, draft.email, signUp.redirectTo);
      const audit = [auditEntry(user, 'user_confirmation_requested', BY_EMAIL)];
      const trace = { ...origin, audit };
      const mailed = await oneTimeTokens.replaceConfirmation(
        tx,
        user.id,
        limit.notAfter,
        confirmation,
        trace,
      );
      if (!mailed) throw limit.failure;
      return { pending: pendingPerson(user.id, identities[0]?.id ?? fauxIdentityId, draft, tx.now) };
    }
    case 'confirm-now': {
      const session = prepareSession('password');
      const audit = [auditEntry(user, 'user_signedup', BY_EMAIL), auditEntry(user, 'login', BY_EMAIL)];
      const person = await sessions.open(tx, {
        userId: user.id,
        session: session.row,
        // The new one counts: whoever typed the old one never showed that the address is theirs.
        newPasswordHash: signUp.passwordHash,
        confirms: true,
        onlyUnconfirmed: true,
        trace: { ...origin, audit },
      });
      if (person === undefined) return await lostToAnother(context, signUp);
      return { issued: issueFirstTokens(context, person, session, tx.now) };
    }
    case 'disguise': {
      const noted = await users.noteRepeatedSignUp(tx, user.id, limit.notAfter, repeated);
      if (!noted) throw limit.failure;
      const fauxId = uuidFrom(atRest.stableId(`user ${draft.email}`));
      return { pending: pendingPerson(fauxId, fauxIdentityId, draft, tx.now) };
    }
    case 'refuse':
      await auditLog.insert(tx, repeated);
      throw failures.userAlreadyExists();
  }
}

/** Somebody else's sign-up confirmed the account at the same moment, or it may not be signed in to. */
async function lostToAnother(context: AuthContext, signUp: CheckedSignUp): Promise<never> {
  const tx = context.database.autocommit();
  const now = await users.findByEmail(tx, signUp.draft.email);
  if (now === undefined || now.user.confirmed_at === null) throw failures.tryAgain();
  await auditLog.insert(tx, repeatedSignUp(signUp, now));
  throw failures.userAlreadyExists();
}

function repeatedSignUp(signUp: CheckedSignUp, { user }: Person): auditLog.Trace {
  return { ...signUp.origin, audit: [auditEntry(user, 'user_repeated_signup', BY_EMAIL)] };
}

/** The last answer after which there can be another one now, and the refusal if there was a later one. */
function mailLimit(answeredAtMs: number | null, intervalMs: number, now: Date) {
  if (intervalMs === 0) return { notAfter: undefined, failure: failures.tryAgain() };
  const earliestMs = now.getTime() - intervalMs;
  // An answer given since the row was read was given just now.
  const lastMs = answeredAtMs === null || answeredAtMs <= earliestMs ? now.getTime() : answeredAtMs;
  const seconds = Math.ceil((lastMs - earliestMs) / 1000);
  return { notAfter: new Date(earliestMs), failure: failures.mailedTooRecently(seconds) };
}
