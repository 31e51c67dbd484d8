import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import type { UserRow } from '../store/people/users.ts';

/**
 * For whom a repository is made: the caller, whom nobody has to name, or an organization where he may.
 * @throws 403, 404
 */
export async function findNewOwner(context: Context, caller: Caller, name: string): Promise<UserRow> {
  if (['', caller.user.login_key].includes(name.toLowerCase())) return caller.user;
  const found = await findOrganization(context, caller, name);
  if (!found.creates) throw forbidden('Given user is not allowed to create repository in organization.');
  return found.organization;
}
