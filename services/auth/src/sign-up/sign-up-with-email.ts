import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { prepareMailCode } from '../codes/prepare-code.ts';
import { sendLimit, sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as users from '../store/users.ts';
import { type CheckedSignUp, confirmationOf, newUserOf, type SignUpResult } from './checked-sign-up.ts';
import { signUpAgain } from './sign-up-again.ts';
import { waitingHash } from './waiting-hash.ts';

/**
 * Makes an account for an address. Of two sign-ups at the same moment one makes the account, and the insert tells the
 * other. Where a mail decides, two round trips whether or not the address is taken, so that their number does not tell;
 * with autoconfirm, where the answer tells anyway, one, or two when it is.
 * @throws Failure `over_email_send_rate_limit` within `SMTP_MAX_FREQUENCY` of the last answer, taken or not
 */
export async function signUpWithEmail(context: AuthContext, signUp: CheckedSignUp): Promise<SignUpResult> {
  return context.settings.MAILER_AUTOCONFIRM
    ? await signUpConfirmed(context, signUp)
    : await signUpPending(context, signUp);
}

async function signUpConfirmed(context: AuthContext, signUp: CheckedSignUp): Promise<SignUpResult> {
  const tx = context.database.autocommit();
  const { row, actor } = newUserOf(signUp, true);
  await askBeforeUserCreated(context, row, signUp.origin);
  const session = prepareSession('password');
  const audit = [auditEntry(actor, 'user_signedup', BY_EMAIL), auditEntry(actor, 'login', BY_EMAIL)];
  const { created, person } = await insertUser(context, tx, {
    ...row,
    session: session.row,
    trace: { ...signUp.origin, audit },
  });
  if (created && person)
    return { issued: await issueFirstTokens(context, person, session, tx.now, signUp.origin) };
  return await signUpAgain(context, signUp, person, undefined);
}

async function signUpPending(context: AuthContext, signUp: CheckedSignUp): Promise<SignUpResult> {
  const tx = context.database.autocommit();
  const { email } = signUp.draft;
  const limit = sendLimit(context, 'confirmation', email);
  const { row, actor } = newUserOf(signUp, false);
  // Of an address somebody has as well: neither its time nor what it refuses may tell.
  await askBeforeUserCreated(context, row, signUp.origin);
  const existing = await users.findByEmail(tx, email);
  const passwordHash = await waitingHash(context, 'email', signUp, existing);
  if (existing !== undefined) {
    const again = { ...signUp, passwordHash };
    return await withinHourlyLimit(context, 'mail', () => signUpAgain(context, again, existing, limit));
  }
  const user: users.NewUser = {
    ...row,
    code: prepareMailCode(context, confirmationOf(signUp)).stored,
    sentAt: ['confirmation_sent_at'],
    limit,
    trace: { ...signUp.origin, audit: [auditEntry(actor, 'user_confirmation_requested', BY_EMAIL)] },
  };
  const inserted = await withinHourlyLimit(context, 'mail', () => insertUser(context, tx, user));
  if (!inserted.allowed) throw sentTooRecently(limit, inserted, tx.now);
  if (inserted.created && inserted.person) return { pending: inserted.person };
  // Somebody signed up at the same moment; this one has counted already.
  const now = inserted.person ?? (await users.findByEmail(tx, email));
  const again = { ...signUp, passwordHash: await waitingHash(context, 'email', signUp, now) };
  return await signUpAgain(context, again, now, undefined);
}
