import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest } from '../failures.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readBoolean, readFilter } from '../rules/issues/list-filter.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as issueLists from '../store/issues/issue-lists.ts';
import * as users from '../store/people/users.ts';
import { inSearchTurn } from './in-search-turn.ts';
import type { IssueQuery } from './list-issues.ts';
import { presentAnywhere } from './present-issues.ts';

/** What the search can be asked for besides. */
export interface SearchQuery extends IssueQuery {
  priority_repo_id?: string | undefined;
  owner?: string | undefined;
  team?: string | undefined;
  /** Of the caller. */
  created?: string | undefined;
  assigned?: string | undefined;
  mentioned?: string | undefined;
  review_requested?: string | undefined;
  reviewed?: string | undefined;
  created_by?: string | undefined;
}

/**
 * A page of the issues and pull requests of all repositories the viewer may read.
 * @throws 400 for an owner or team nobody knows, 422 for a time that is none or a keyword that is too long, 503 when
 *   too many search
 */
export async function searchIssues(
  context: Context,
  viewer: Caller | undefined,
  query: SearchQuery,
): Promise<ListPage> {
  const page = pageOf(context, query);
  // Nobody can be asked for a review yet, so nobody was.
  if (readBoolean(query.review_requested) || readBoolean(query.reviewed))
    return { page, total: 0, items: [] };
  const tx = context.database.autocommit();
  const scope = {
    ...viewerOf(viewer),
    ...(await namedScope(context, viewer, query)),
    priorityRepositoryId: readId(query.priority_repo_id ?? ''),
  };
  const filter = {
    ...readFilter(query),
    ...relativeTo(viewer, query),
    ...(await namedCreator(context, query)),
  };
  const { rows, total, linked } = await inSearchTurn(viewer, filter, () =>
    issueLists.search(tx, scope, filter, page),
  );
  return { page, total, linked, items: await presentAnywhere(context, viewer, rows) };
}

/** Filters by the caller mean nothing without one. */
function relativeTo(viewer: Caller | undefined, query: SearchQuery) {
  const mine = (wanted: string | undefined) =>
    viewer !== undefined && readBoolean(wanted) ? viewer.user : undefined;
  return {
    createdBy: mine(query.created)?.id ?? null,
    assignedBy: mine(query.assigned)?.id ?? null,
    mentioned: mine(query.mentioned)?.login ?? '',
  };
}

async function namedCreator({ database }: Context, query: SearchQuery): Promise<{ createdBy?: number }> {
  if (!query.created_by) return {};
  const user = await users.findByLogin(database.autocommit(), query.created_by);
  // Nobody wrote what somebody who does not exist wrote.
  return { createdBy: user?.id ?? 0 };
}

async function namedScope(
  { database }: Context,
  viewer: Caller | undefined,
  query: SearchQuery,
): Promise<{ ownerId: number | null; teamId: number | null }> {
  if (!query.owner) {
    if (query.team) throw badRequest('Owner organisation is required for filtering on team');
    return { ownerId: null, teamId: null };
  }
  const names = { owner: query.owner, team: query.team ?? '' };
  const found = await issueLists.findOwnerAndTeam(database.autocommit(), viewerOf(viewer), names);
  if (found === undefined) throw badRequest('Owner not found');
  if (query.team && found.team_id === null) throw badRequest('Team not found');
  return { ownerId: found.owner_id, teamId: query.team ? found.team_id : null };
}
