import type { AuthContext } from '../context.ts';
import { type FoundUsers, searchUsers, type UserSearch } from '../store/user-search.ts';

/** Users on a page at most: all of one are in memory together. */
export const MAX_PER_PAGE = 1000;

/** One page of users, of all or of those with a part of an address. */
export async function listUsers(context: AuthContext, search: UserSearch): Promise<FoundUsers> {
  const perPage = Math.min(search.perPage, MAX_PER_PAGE);
  return await searchUsers(context.database.autocommit(), { ...search, perPage });
}
