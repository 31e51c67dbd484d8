import { isUniqueViolation } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import type { Person } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { checkPhoneNumber } from '../rules/addresses/phone-number.ts';
import { checkName, checkUserId } from '../rules/users/admin-user.ts';
import { decideBan } from '../rules/users/ban-duration.ts';
import { METADATA_LIMITS, metadataTooLarge } from '../rules/users/user-update.ts';
import * as userAdmin from '../store/user-admin.ts';
import * as users from '../store/users.ts';
import { acceptPasswordHash } from './accept-password-hash.ts';
import { type ActingAdmin, adminEntry } from './admin-entry.ts';
import type { UserFields } from './user-fields.ts';

/** What an administrator wants to be different. */
export interface UserUpdateRequest extends UserFields {
  userId: string;
  origin: Origin;
}

/**
 * Changes a user as an administrator says (PUT /admin/users/<id>): at once, without asking anybody. A new password
 * ends all sessions; a ban leaves them, but they are worth nothing while it lasts. Two round trips.
 * @throws Failure for the first check that fails, in the order of the contract's reference (§3.20)
 */
export async function updateUser(
  context: AuthContext,
  admin: ActingAdmin,
  request: UserUpdateRequest,
): Promise<Person> {
  const tx = context.database.autocommit();
  const person = await users.findById(tx, checkUserId(request.userId));
  if (person === undefined) throw failures.userNotFound();
  const { user } = person;
  const email = request.email === '' ? undefined : checkEmailAddress(request.email);
  const phone = request.phone === '' ? undefined : checkPhoneNumber(request.phone);
  const bannedUntil = decideBan(request.banDuration, tx.now);
  const role = checkName('role', request.role) || undefined;
  const passwordHash = await newPasswordHash(context, request);

  const reached = { id: user.id, email: email ?? user.email, phone: phone ?? user.phone };
  const audit = adminEntry(admin, 'user_modified', reached);
  try {
    const changed = await userAdmin.update(context.database.autocommit(), {
      userId: user.id,
      role,
      email: email === user.email ? undefined : email,
      phone: phone === user.phone ? undefined : phone,
      emailConfirmed: request.emailConfirm,
      phoneConfirmed: request.phoneConfirm,
      passwordHash,
      bannedUntil,
      userMetadata: request.userMetadata,
      appMetadata: request.appMetadata,
      metadataLimits: METADATA_LIMITS,
      trace: { ...request.origin, audit: [audit] },
    });
    if (changed.tooLarge !== null) throw metadataTooLarge(changed.tooLarge);
    // Somebody deleted it meanwhile.
    if (changed.person === undefined) throw failures.userNotFound();
    return changed.person;
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key')) throw failures.emailTaken();
    if (isUniqueViolation(error, 'users_phone_key')) throw failures.phoneTaken();
    throw error;
  }
}

/** Unlike that of a new user the password is held against the policy. */
async function newPasswordHash(context: AuthContext, fields: UserFields): Promise<string | undefined> {
  const { password, passwordHash } = fields;
  if (password !== '' && passwordHash !== '') throw failures.passwordAndHash();
  if (passwordHash !== '') {
    acceptPasswordHash(passwordHash);
    return passwordHash;
  }
  if (password === '') return undefined;
  await acceptNewPassword(context, password);
  return await context.outside.passwords.hash(password);
}
