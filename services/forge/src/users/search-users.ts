import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as users from '../store/people/users.ts';
import { userJson } from './user-json.ts';

/** A page of the people with a part of their name; addresses are not searched, they would be found out by it. */
export async function searchUsers(
  context: Context,
  caller: Caller | undefined,
  query: {
    q?: string | undefined;
    uid?: string | undefined;
    page?: string | undefined;
    limit?: string | undefined;
  },
): Promise<ListPage> {
  const page = pageOf(context, query);
  const part = (query.q ?? '').trim();
  const id = readId(query.uid ?? '');
  const found = await users.searchPeople(context.database.autocommit(), part, id === 0 ? null : id, page);
  return {
    page,
    total: found.total,
    items: found.users.map((user) => userJson(user, caller, context.links)),
  };
}
