import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { checkAccountName } from '../rules/access/name.ts';
import * as organizations from '../store/people/organizations.ts';
import { nameTaken } from './create-organization.ts';
import { checkOwner, findOrganization } from './find-organization.ts';

/** Gives an organization another name; the old one leads to it until somebody takes it. */
export async function renameOrganization(
  context: Context,
  caller: Caller,
  name: string,
  login: string,
): Promise<void> {
  const found = await findOrganization(context, caller, name);
  checkOwner(found);
  checkAccountName(login);
  try {
    await organizations.rename(context.database.autocommit(), found.organization.id, login);
  } catch (error) {
    if (isUniqueViolation(error, 'users_login_key_key')) throw nameTaken(login);
    throw error;
  }
}
