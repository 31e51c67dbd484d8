import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant } from '../rows.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { isBanned } from '../rules/ban.ts';
import { findWeakness, type Weakness } from '../rules/password-strength.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import { passwordPolicy } from '../settings.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';

/** A sign-in with a password as it arrives. */
export interface PasswordGrant {
  email: string;
  phone: string;
  password: string;
  origin: Origin;
}

/**
 * Signs in with address and password (POST /token?grant_type=password). Unknown address, wrong password and an
 * account without one take the same path and the same time. Two round trips.
 */
export async function signInWithPassword(
  context: AuthContext,
  grant: PasswordGrant,
): Promise<{ issued: IssuedSession; weakness: Weakness | undefined }> {
  const { settings, passwords } = context;
  checkGrant(grant, settings.EXTERNAL_EMAIL_ENABLED);
  const tx = context.database.autocommit();
  const audience = grant.origin.audience ?? settings.JWT_AUD;
  const known = await users.findByEmail(tx, grant.email.toLowerCase());
  const person = known?.user.aud === audience ? known : undefined;
  const stored = person?.user.encrypted_password ?? null;
  const matches = await passwords.verify(grant.password, stored);
  if (person === undefined || stored === null || !matches) throw failures.invalidCredentials();
  // Both only after the password was right: else they would tell strangers that the address has an account.
  if (isBanned(instant(person.user.banned_until), tx.now)) throw failures.loginBanned();
  if (person.user.email_confirmed_at === null) throw failures.emailNotConfirmed();

  const session = prepareSession('password');
  const opened = await sessions.open(tx, {
    userId: person.user.id,
    session: session.row,
    checkedPasswordHash: stored,
    newPasswordHash: passwords.isOutdated(stored) ? await passwords.hash(grant.password) : undefined,
    trace: { ...grant.origin, audit: [auditEntry(person.user, 'login', BY_EMAIL)] },
  });
  if (opened === undefined) throw failures.invalidCredentials();
  return {
    issued: issueFirstTokens(context, opened, session, tx.now),
    weakness: findWeakness(grant.password, passwordPolicy(settings)),
  };
}

function checkGrant(grant: PasswordGrant, emailEnabled: boolean): void {
  if (grant.email !== '' && grant.phone !== '') {
    throw failures.invalidValue('Only an email address or phone number should be provided on login.');
  }
  if (grant.phone !== '') throw failures.phoneLoginsDisabled();
  if (grant.email === '') throw failures.invalidValue('missing email or phone');
  if (!emailEnabled) throw failures.emailLoginsDisabled();
}
