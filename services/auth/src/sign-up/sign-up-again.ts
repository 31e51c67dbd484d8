import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
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
 * @throws Failure `user_already_exists` when there is nothing to hide
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
  const repeated = { ...origin, audit: [auditEntry(user, 'user_repeated_signup', BY_EMAIL)] };
  const fauxIdentityId = uuidFrom(atRest.stableId(`identity ${draft.email}`));

  switch (decision) {
    case 'confirm-again': {
      const confirmation = prepareConfirmation(context, draft.email, signUp.redirectTo);
      const audit = [auditEntry(user, 'user_confirmation_requested', BY_EMAIL)];
      await oneTimeTokens.replaceConfirmation(tx, user.id, confirmation, { ...origin, audit });
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
        trace: { ...origin, audit },
      });
      if (person === undefined) throw failures.tryAgain();
      return { issued: issueFirstTokens(context, person, session, tx.now) };
    }
    case 'disguise': {
      await auditLog.insert(tx, repeated);
      const fauxId = uuidFrom(atRest.stableId(`user ${draft.email}`));
      return { pending: pendingPerson(fauxId, fauxIdentityId, draft, tx.now) };
    }
    case 'refuse':
      await auditLog.insert(tx, repeated);
      throw failures.userAlreadyExists();
  }
}
