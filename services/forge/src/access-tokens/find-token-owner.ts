import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { authRequired, forbidden } from '../failures.ts';
import type { UserRow } from '../store/people/users.ts';
import { findPerson } from '../users/find-user.ts';

/**
 * The account whose tokens the path is about: one's own, for site admins anybody's. Personal tokens are not enough: a
 * leaked one could make itself a sister that outlives it.
 * @throws 401, 403, 404
 */
export async function findTokenOwner(context: Context, caller: Caller, username: string): Promise<UserRow> {
  if (caller.scopes !== undefined) throw authRequired();
  const owner = await findPerson(context, username);
  if (owner.id !== caller.userId && !caller.isAdmin) throw forbidden('tokens are for their owner only');
  return owner;
}
