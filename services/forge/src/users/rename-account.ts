import { isUniqueViolation } from '@croft/sql';
import type { Context } from '../context.ts';
import { nameTaken } from '../failures.ts';
import { checkAccountName } from '../rules/access/name.ts';
import * as formerLogins from '../store/people/former-logins.ts';
import type { UserRow } from '../store/people/users.ts';

/**
 * Gives an account of either kind another name; the old one leads to it until somebody takes it.
 * @throws 422 for a name nobody can have or somebody has
 */
export async function renameAccount({ database }: Context, account: UserRow, login: string): Promise<void> {
  checkAccountName(login);
  try {
    await formerLogins.rename(database.autocommit(), account.id, login);
  } catch (error) {
    if (isUniqueViolation(error, 'users_login_key_key')) throw nameTaken(login);
    throw error;
  }
}
