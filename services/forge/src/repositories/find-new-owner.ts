import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, Moved } from '../failures.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import type { UserRow } from '../store/people/users.ts';

/**
 * For whom a repository is made: the caller, whom nobody has to name, or an organization where he may, also by a name it
 * had before.
 * @throws 403, 404
 */
export async function findNewOwner(context: Context, caller: Caller, name: string): Promise<UserRow> {
  if (['', caller.user.login_key].includes(name.toLowerCase())) return caller.user;
  const found = await findOrganization(context, caller, name).catch(async (failure: unknown) => {
    // It stands in the body, so there is no other address to send the request to.
    if (failure instanceof Moved) return await findOrganization(context, caller, failure.to[0] ?? '');
    throw failure;
  });
  if (!found.creates) throw forbidden('Given user is not allowed to create repository in organization.');
  return found.organization;
}
