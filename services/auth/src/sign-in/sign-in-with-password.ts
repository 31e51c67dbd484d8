import { Failure } from '@croft/failure';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { judgePasswordAttempt } from '../hooks/judge-password-attempt.ts';
import type { PasswordHasher } from '../outside/password-hash.ts';
import { knownWeakness } from '../passwords/known-weakness.ts';
import { instant, type Person, type UserRow } from '../rows.ts';
import { normalizePhone } from '../rules/addresses/phone-number.ts';
import { auditEntry, BY_EMAIL, BY_PHONE } from '../rules/audit.ts';
import type { Weakness } from '../rules/passwords/password-strength.ts';
import { audienceOf } from '../rules/tokens/audience.ts';
import { isBanned } from '../rules/users/ban.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import type { AuthSettings } from '../settings.ts';
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
 * Signs in with address or number and password (POST /token?grant_type=password). Unknown user, wrong password and an
 * account without one take the same path and the same time. Two round trips, and two more where another sign-in
 * replaced the hash in between.
 */
export async function signInWithPassword(
  context: AuthContext,
  grant: PasswordGrant,
): Promise<{ issued: IssuedSession; weakness: Weakness | undefined }> {
  const { settings } = context;
  const { passwords } = context.outside;
  checkGrant(grant, settings);
  const tx = context.database.autocommit();
  // As they are stored; what is no number then is nobody's (as in GoTrue).
  const address = grant.phone === '' ? grant.email.toLowerCase() : normalizePhone(grant.phone);
  const audience = audienceOf(grant.origin.audience, undefined, settings);
  const find = async (): Promise<Person | undefined> => {
    const known = await (grant.phone === '' ? users.findByEmail : users.findByPhone)(tx, address);
    return known?.user.aud === audience ? known : undefined;
  };
  const person = await find();
  const stored = person?.user.encrypted_password ?? null;
  const matches = await passwords.verify(grant.password, stored);
  await judgePasswordAttempt(context, {
    user: person?.user,
    address,
    valid: matches && person !== undefined && stored !== null,
    origin: grant.origin,
  });
  if (person === undefined || stored === null || !matches) throw failures.invalidCredentials();
  // Both only after the password was right: else they would tell strangers that the address has an account.
  if (isBanned(instant(person.user.banned_until), tx.now)) throw failures.loginBanned();
  checkConfirmed(person.user, grant);

  // Beside the statement that follows, so that it costs no time of its own where it is quick.
  const weakness = knownWeakness(context, grant.password);
  const session = prepareSession('password');
  const open = (checkedPasswordHash: string, newPasswordHash: string | undefined) =>
    sessions.open(tx, {
      userId: person.user.id,
      session: session.row,
      checkedPasswordHash,
      newPasswordHash,
      trace: {
        ...grant.origin,
        audit: [auditEntry(person.user, 'login', grant.phone === '' ? BY_EMAIL : BY_PHONE)],
      },
    });
  const outdated = passwords.isOutdated(stored, grant.password);
  let opened = await open(stored, outdated ? await newHash(passwords, grant.password) : undefined);
  if (opened === undefined) {
    // Another sign-in may have made the hash anew: only a change of password is none of this password's.
    const present = (await find())?.user.encrypted_password ?? null;
    if (present !== null && present !== stored && (await passwords.verify(grant.password, present))) {
      opened = await open(present, undefined);
    }
  }
  if (opened === undefined) throw failures.invalidCredentials();
  return {
    issued: await issueFirstTokens(context, opened, session, tx.now, grant.origin),
    weakness: await weakness,
  };
}

/** A hash to replace the stored one; undefined where there is no time for it now: a later sign-in makes it. */
async function newHash(passwords: PasswordHasher, password: string): Promise<string | undefined> {
  return await passwords.hash(password).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'unavailable') return undefined;
    throw error;
  });
}

function checkGrant(grant: PasswordGrant, settings: AuthSettings): void {
  if (grant.email !== '' && grant.phone !== '') throw failures.loginAddressAmbiguous();
  if (grant.email !== '' && !settings.EXTERNAL_EMAIL_ENABLED) throw failures.emailLoginsDisabled();
  if (grant.phone !== '' && !settings.EXTERNAL_PHONE_ENABLED) throw failures.phoneLoginsDisabled();
  if (grant.email === '' && grant.phone === '') throw failures.loginAddressMissing();
}

function checkConfirmed(user: UserRow, { phone }: PasswordGrant): void {
  if (phone === '' && user.email_confirmed_at === null) throw failures.emailNotConfirmed();
  if (phone !== '' && user.phone_confirmed_at === null) throw failures.phoneNotConfirmed();
}
