import { randomUUID } from 'node:crypto';
import { StartError } from '@croft/runtime';
import type { AuthContext } from '../context.ts';
import { insertUser } from '../hooks/new-users.ts';
import { migrateTables } from '../migrate-tables.ts';
import { type AuthOptions, openContext } from '../open-context.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { administratorRole } from '../rules/tokens/administrator-role.ts';
import { EMAIL_APP_METADATA, emailIdentityData } from '../rules/users/disguised-user.ts';
import * as users from '../store/users.ts';
import { adminEntry, OPERATOR } from './admin-entry.ts';

/** Who is to administrate. */
export interface NewAdministrator extends Pick<AuthOptions, 'settings' | 'databaseUrl' | 'log' | 'secrets'> {
  email: string;
  password: string;
}

/**
 * Makes a confirmed user with a role that may administrate. Calling it again changes nothing. An account
 * that has the address already becomes the administrator's: it gets the password, and who was signed in is not.
 * @throws Failure when the address or the password cannot be accepted
 * @throws StartError when an auth of an older version is running on the database
 */
export async function createAdministrator(options: NewAdministrator): Promise<void> {
  const { settings } = options;
  const role = administratorRole(settings);
  if (role === undefined)
    throw new StartError('AUTHSVC_JWT_ADMIN_ROLES names no role an administrator could have.');
  const email = checkEmailAddress(options.email);
  const context = openContext({ ...options, version: '' });
  try {
    await acceptNewPassword(context, options.password);
    await migrateTables(context.database, settings, true);
    await ensureAdministrator(context, email, options.password, role);
  } finally {
    await context.database.close();
  }
}

async function ensureAdministrator(
  context: AuthContext,
  email: string,
  password: string,
  role: string,
): Promise<void> {
  const { database, settings } = context;
  const { passwords } = context.outside;
  const tx = database.autocommit();
  const existing = await users.findByEmail(tx, email);
  if (existing !== undefined) {
    const { user } = existing;
    const matches = await passwords.verify(password, user.encrypted_password);
    if (matches && user.role === role && user.email_confirmed_at !== null && user.banned_until === null)
      return;
    const trace = {
      ip: null,
      userAgent: '',
      audit: [adminEntry(OPERATOR, 'user_modified', user)],
    };
    return await users.takeOver(tx, user.id, role, await passwords.hash(password), trace);
  }
  const id = randomUUID();
  const identityData = emailIdentityData(id, { email, data: {} }, true);
  await insertUser(context, tx, {
    id,
    aud: settings.JWT_AUD,
    role,
    email,
    phone: null,
    emailConfirmed: true,
    phoneConfirmed: false,
    passwordHash: await passwords.hash(password),
    appMetadata: EMAIL_APP_METADATA,
    userMetadata: identityData,
    identity: { provider: 'email', providerId: id, data: identityData },
    isAnonymous: false,
    trace: {
      ip: null,
      userAgent: '',
      audit: [adminEntry(OPERATOR, 'user_signedup', { id, email, phone: null })],
    },
  });
}
