import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { checkMember, findOrganization } from '../organizations/find-organization.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as teams from '../store/people/teams.ts';
import { teamJson } from './team-json.ts';

/** The parameters of a list. */
interface PageQuery {
  page?: string | undefined;
  limit?: string | undefined;
}

/**
 * A page of an organization's teams, for its members.
 * @param filter a part of their names; `include_desc=false` leaves the descriptions out
 */
export async function listTeams(
  context: Context,
  caller: Caller,
  org: string,
  query: PageQuery,
  filter: { q?: string | undefined; include_desc?: string | undefined } = {},
): Promise<ListPage> {
  const found = await findOrganization(context, caller, org);
  checkMember(found);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const sought = { part: (filter.q ?? '').trim(), inDescriptions: filter.include_desc !== 'false' };
  const viewer = viewerOf(caller);
  const known = await teams.listOfOrganization(tx, found.organization.id, viewer, sought, page);
  return present(context, known, caller, page);
}

/** A page of the teams the caller is in. */
export async function listOwnTeams(context: Context, caller: Caller, query: PageQuery): Promise<ListPage> {
  const page = pageOf(context, query);
  const found = await teams.listOfMember(context.database.autocommit(), viewerOf(caller), page);
  return present(context, found, caller, page);
}

function present(
  { links }: Context,
  found: teams.FoundTeams,
  caller: Caller,
  page: ListPage['page'],
): ListPage {
  const items = found.teams.map(({ organization, ...team }) => teamJson(team, organization, caller, links));
  return { page, total: found.total, items };
}
