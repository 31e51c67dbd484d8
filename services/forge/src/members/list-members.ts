import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import * as members from '../store/people/members.ts';
import { userJson } from '../users/user-json.ts';

/** A page of the members of an organization: all for members, for others those who show it. */
export async function listMembers(
  context: Context,
  caller: Caller | undefined,
  org: string,
  query: { page?: string | undefined; limit?: string | undefined },
  only: 'public' | 'all',
): Promise<ListPage> {
  const found = await findOrganization(context, caller, org);
  const page = pageOf(context, query);
  const which = only === 'all' && found.isMember ? 'all' : 'public';
  const tx = context.database.autocommit();
  const { total, users } = await members.list(tx, found.organization.id, which, page);
  return { page, total, items: users.map((user) => userJson(user, caller, context.links)) };
}
