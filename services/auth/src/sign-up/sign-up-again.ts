import { prepareMailCode } from '../codes/prepare-code.ts';
import { sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { emailIdentityData, pendingPerson, uuidFrom } from '../rules/users/disguised-user.ts';
import { isProvenTo } from '../rules/users/proven.ts';
import { decideSignUp } from '../rules/users/sign-up.ts';
import { issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as auditLog from '../store/audit-log.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import type { SendLimit } from '../store/send-limits.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { type CheckedSignUp, confirmationOf, type SignUpResult } from './checked-sign-up.ts';

/**
 * A sign-up with an address somebody has. Unless addresses need no confirmation, the answer is the one a new account
 * would get: it repeats what was sent, with an id that stays the same for the address.
 * @param limit of mails to the address; undefined when this one has been counted
 * @throws Failure `over_email_send_rate_limit`, or `user_already_exists` when there is nothing to hide
 */
export async function signUpAgain(
  context: AuthContext,
  signUp: CheckedSignUp,
  seen: Person | undefined,
  limit: SendLimit | undefined,
): Promise<SignUpResult & { allowed: true }> {
  const { database, settings, atRest } = context;
  const { draft, origin } = signUp;
  const tx = database.autocommit();
  // Somebody may have made the account while the statement before waited for them; it could not see that one then.
  const existing = seen ?? (await users.findByEmail(tx, draft.email));
  // Without a proof, nobody gets an account that an administrator made for somebody, or whose number somebody has proven.
  const isGiven = existing?.user.given_by_admin === true || (existing?.user.invited_at ?? null) !== null;
  const account = existing && {
    confirmed: settings.MAILER_AUTOCONFIRM
      ? existing.user.confirmed_at !== null || isGiven
      : isProvenTo('email', existing.user),
  };
  const decision = decideSignUp(account, settings.MAILER_AUTOCONFIRM);
  // It went away again.
  if (existing === undefined || decision === 'create') throw failures.tryAgain();
  const { user, identities } = existing;
  const fauxIdentityId = uuidFrom(atRest.stableId(`identity ${draft.email}`));

  switch (decision) {
    case 'confirm-again': {
      const { stored } = prepareMailCode(context, confirmationOf(signUp));
      // Password and data of this sign-up count when its own code is proven: whoever signed the address up before
      // may be somebody else.
      const code = isGiven
        ? stored
        : {
            ...stored,
            pendingPassword: signUp.passwordHash,
            pendingData: emailIdentityData(user.id, draft, false),
          };
      const sent = await oneTimeTokens.send(tx, {
        userId: user.id,
        limit,
        codes: [code],
        sentAt: ['confirmation_sent_at'],
        trace: { ...origin, audit: [auditEntry(user, 'user_confirmation_requested', BY_EMAIL)] },
      });
      if (!sent.allowed) throw sentTooRecently(limit, sent, tx.now);
      const identityId = identities[0]?.id ?? fauxIdentityId;
      return { allowed: true, pending: pendingPerson(user.id, identityId, draft, tx.now) };
    }
    case 'confirm-now': {
      const session = prepareSession('password');
      const audit = [auditEntry(user, 'user_signedup', BY_EMAIL), auditEntry(user, 'login', BY_EMAIL)];
      const person = await sessions.open(tx, {
        userId: user.id,
        session: session.row,
        // The new one counts: whoever typed the old one never showed that the address is theirs.
        newPasswordHash: signUp.passwordHash,
        confirms: 'email',
        startsOver: emailIdentityData(user.id, draft, true),
        onlyUnconfirmed: true,
        trace: { ...origin, audit },
      });
      if (person === undefined) return await lostToAnother(context, signUp);
      return {
        allowed: true,
        issued: await issueFirstTokens(context, person, session, tx.now, signUp.origin),
      };
    }
    case 'disguise': {
      const sent = await oneTimeTokens.pretend(tx, limit, repeatedSignUp(signUp, existing));
      if (!sent.allowed) throw sentTooRecently(limit, sent, tx.now);
      const fauxId = uuidFrom(atRest.stableId(`user ${draft.email}`));
      return { allowed: true, pending: pendingPerson(fauxId, fauxIdentityId, draft, tx.now) };
    }
    case 'refuse':
      await auditLog.insert(tx, repeatedSignUp(signUp, existing));
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
