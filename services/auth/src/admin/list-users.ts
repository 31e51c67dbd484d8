import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { correctEstimate, MAX_PER_PAGE } from '../rules/users/admin-page.ts';
import { type FoundUsers, searchUsers, type UserSearch } from '../store/user-search.ts';

/**
 * One page of users with their ways to sign in, of all or of those with a part of an address. Two round trips, or a few more
 * for a part that many or few addresses have.
 * @throws Failure `validation_failed` when the page is too much to be in memory at once
 */
export async function listUsers(context: AuthContext, search: UserSearch): Promise<FoundUsers> {
  const perPage = Math.min(search.perPage, MAX_PER_PAGE);
  const found = await searchUsers(context.database.autocommit(), { ...search, perPage });
  // To leave somebody out would be worse: who follows pages would never meet them.
  if (!found.isWhole) throw failures.pageTooLarge();
  if (found.isExact) return found;
  return { ...found, ...correctEstimate(found.total, { ...search, perPage }, found.people.length) };
}
