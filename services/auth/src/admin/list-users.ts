import type { AuthContext } from '../context.ts';
import type { Person } from '../rows.ts';
import { correctEstimate, MAX_PER_PAGE } from '../rules/users/admin-page.ts';
import { type FoundUsers, searchUsers, type UserSearch } from '../store/user-search.ts';
import * as users from '../store/users.ts';

/** One page of users, of all or of those with a part of an address. */
export async function listUsers(context: AuthContext, search: UserSearch): Promise<FoundUsers> {
  const perPage = Math.min(search.perPage, MAX_PER_PAGE);
  const found = await searchUsers(context.database.autocommit(), { ...search, perPage });
  if (found.isExact) return found;
  return { ...found, ...correctEstimate(found.total, { ...search, perPage }, found.users.length) };
}

/** The same with their ways to sign in. Two round trips, or a few more for a part that many or few addresses have. */
export async function listPeople(
  context: AuthContext,
  search: UserSearch,
): Promise<{ people: Person[]; total: number }> {
  const found = await listUsers(context, search);
  return { people: await withIdentities(context, found.users), total: found.total };
}

/** Users with their ways to sign in. */
export async function withIdentities(context: AuthContext, rows: FoundUsers['users']): Promise<Person[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const identities = await users.listIdentities(context.database.autocommit(), ids);
  const of = Map.groupBy(identities, (identity) => identity.user_id);
  return rows.map((user) => ({ user, identities: of.get(user.id) ?? [] }));
}
