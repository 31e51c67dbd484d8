import { randomUUID } from 'node:crypto';
import { isUniqueViolation } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { creationNoticeFor } from '../hooks/new-users.ts';
import type { Person } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { checkPhoneNumber, normalizePhone } from '../rules/addresses/phone-number.ts';
import { isTooLong } from '../rules/passwords/password-strength.ts';
import { audienceOf } from '../rules/tokens/audience.ts';
import {
  appMetadataOf,
  checkName,
  checkNewUserId,
  identitiesOf,
  userMetadataOf,
} from '../rules/users/admin-user.ts';
import { decideBan } from '../rules/users/ban-duration.ts';
import { checkMetadataSize } from '../rules/users/user-update.ts';
import * as userAdmin from '../store/user-admin.ts';
import { acceptPasswordHash } from './accept-password-hash.ts';
import { type ActingAdmin, adminEntry } from './admin-entry.ts';
import type { UserFields } from './user-fields.ts';

/** A user an administrator wants. */
export interface NewUserRequest extends UserFields {
  /** Empty for one of our choosing. */
  id: string;
  aud: string;
  origin: Origin;
}

/**
 * Makes a user as an administrator describes it (POST /admin/users); nothing is sent to anybody. The password is not
 * held against the policy, as the contract has it. Without one the user has none until they set it.
 * @throws Failure for the first check that fails, in the order of the contract's reference (§3.20)
 */
export async function createUser(
  context: AuthContext,
  admin: ActingAdmin,
  request: NewUserRequest,
): Promise<Person> {
  const { database, settings } = context;
  const tx = database.autocommit();
  if (request.email === '' && request.phone === '') throw failures.newUserAddressMissing();
  const email = request.email === '' ? null : checkEmailAddress(request.email);
  const taken = await userAdmin.findTaken(tx, email, normalizePhone(request.phone) || null);
  if (taken.email) throw failures.emailTaken();
  const phone = request.phone === '' ? null : checkPhoneNumber(request.phone);
  if (taken.phone) throw failures.newUserPhoneTaken();
  checkNewUserPassword(request);
  const id = request.id === '' ? randomUUID() : checkNewUserId(request.id);
  const bannedUntil = decideBan(request.banDuration, tx.now) ?? null;
  checkMetadataSize({}, request.userMetadata);
  checkMetadataSize({}, request.appMetadata, 'app_metadata');
  const role = checkName('role', request.role) || settings.JWT_DEFAULT_GROUP_NAME;
  const aud = checkName('aud', request.aud || audienceOf(request.origin.audience, undefined, settings));

  const addresses = {
    id,
    email,
    phone,
    emailConfirmed: email !== null && request.emailConfirm,
    phoneConfirmed: phone !== null && request.phoneConfirm,
  };
  const identities = identitiesOf(addresses);
  const audit = adminEntry(admin, 'user_signedup', addresses);
  try {
    return await userAdmin.insert(tx, {
      ...addresses,
      aud,
      role,
      passwordHash: await hashOf(context, request),
      appMetadata: appMetadataOf(identities, request.appMetadata),
      userMetadata: userMetadataOf(addresses, request.userMetadata),
      identities,
      bannedUntil,
      notice: creationNoticeFor(context, id, request.origin),
      trace: { ...request.origin, audit: [audit] },
    });
  } catch (error) {
    // Somebody took it since the look above; the id is looked at only here.
    if (isUniqueViolation(error, 'users_email_key')) throw failures.emailTaken();
    if (isUniqueViolation(error, 'users_phone_key')) throw failures.newUserPhoneTaken();
    if (isUniqueViolation(error, 'users_pkey')) throw failures.userIdTaken();
    throw error;
  }
}

function checkNewUserPassword({ password, passwordHash }: UserFields): void {
  if (password !== '' && passwordHash !== '') throw failures.passwordAndHash();
  if (isTooLong(password)) throw failures.invalidValue('Password cannot be longer than 72 characters');
  if (passwordHash !== '') acceptPasswordHash(passwordHash);
}

async function hashOf(context: AuthContext, { password, passwordHash }: UserFields): Promise<string | null> {
  if (passwordHash !== '') return passwordHash;
  return password === '' ? null : await context.outside.passwords.hash(password);
}
