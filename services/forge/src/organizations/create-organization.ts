import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { nameTaken } from '../failures.ts';
import { checkAccountName } from '../rules/access/name.ts';
import { checkProfile } from '../rules/access/profile.ts';
import * as organizations from '../store/people/organizations.ts';
import type { UserRow } from '../store/people/users.ts';

/**
 * Makes an organization with a team of owners, of whom there is one.
 * @throws 403 for one that is not for everybody with credentials for public things, 422 for a name nobody can have or somebody has, and for texts that cannot be accepted
 */
export async function createOrganization(
  { database }: Context,
  caller: Caller,
  ownerId: number,
  login: string,
  fields: organizations.OrganizationFields,
): Promise<UserRow> {
  if (fields.visibility !== 'public') checkReachesPrivate(caller);
  checkAccountName(login);
  checkProfile(fields);
  const made = await organizations.insert(database.autocommit(), login, ownerId, fields);
  if (made === undefined) throw nameTaken(login);
  return made;
}
