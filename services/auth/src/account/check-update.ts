import type { Caller } from '../caller/authenticate-caller.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import { checkPhoneChange, isNewNumber, type PhoneChange } from '../phone/change-phone.ts';
import type { Person } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { checkMayChange } from '../rules/users/user-update.ts';
import * as users from '../store/users.ts';

/** The fields of PUT /user that are checked before anything else; the empty text means none. */
export interface UpdateFields {
  email: string;
  phone: string;
  channel: string;
  /** An empty password is one, and too short. */
  password: string | undefined;
  appMetadata: Record<string, unknown>;
}

/**
 * What is to be changed: addresses that are new, and nobody else's as far as can be seen. Null is the present one: it
 * takes back a change that waits for its confirmation.
 */
export interface CheckedUpdate {
  email: string | null | undefined;
  phone: PhoneChange | null | undefined;
  password: string | undefined;
}

/**
 * Steps 1 to 6 of PUT /user (as in GoTrue). One round trip for each new address.
 * @throws Failure for the first check that fails
 */
export async function checkUpdate(
  context: AuthContext,
  { person, aal }: Pick<Caller, 'person' | 'aal'>,
  fields: UpdateFields,
): Promise<CheckedUpdate> {
  const { settings } = context;
  const { password } = fields;
  const email = fields.email === '' ? undefined : checkEmailAddress(fields.email);
  const phone = checkPhoneChange(context, fields);
  if (password !== undefined) await acceptNewPassword(context, password);
  const changesAppMetadata = Object.keys(fields.appMetadata).length > 0;
  const wanted = { email, phone: phone?.phone, password, changesAppMetadata };
  checkMayChange(person.user, wanted, settings.JWT_ADMIN_ROLES, aal);
  return {
    email: email === undefined || (await isNewAddress(context, person, email)) ? email : null,
    phone: phone === undefined || (await isNewNumber(context, person, phone)) ? phone : null,
    password,
  };
}

/** @throws Failure `email_exists` when somebody else has it */
async function isNewAddress(context: AuthContext, { user }: Person, email: string): Promise<boolean> {
  if (user.email === email) return false;
  if (await users.findByEmail(context.database.autocommit(), email)) throw failures.emailTaken();
  return true;
}
