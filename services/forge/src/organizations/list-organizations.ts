import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as organizations from '../store/people/organizations.ts';
import { findPerson } from '../users/find-user.ts';
import { organizationJson } from './organization-json.ts';

/** The parameters of a list. */
interface PageQuery {
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the organizations the caller may know of. */
export async function listOrganizations(
  context: Context,
  caller: Caller | undefined,
  query: PageQuery,
): Promise<ListPage> {
  const page = pageOf(context, query);
  const found = await organizations.listVisible(context.database.autocommit(), viewerOf(caller), page);
  return {
    page,
    total: found.total,
    items: found.users.map((row) => organizationJson(row, caller, context.links)),
  };
}

/** A page of somebody's organizations, as far as the caller may know of them and of the membership. */
export async function listOrganizationsOf(
  context: Context,
  caller: Caller | undefined,
  username: string,
  query: PageQuery,
): Promise<ListPage> {
  const person = await findPerson(context, username);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const found = await organizations.listOfMember(tx, person.id, viewerOf(caller), page);
  return {
    page,
    total: found.total,
    items: found.users.map((row) => organizationJson(row, caller, context.links)),
  };
}
