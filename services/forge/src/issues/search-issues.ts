import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest } from '../failures.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readBoolean, readFilter } from '../rules/issues/list-filter.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as issueLists from '../store/issues/issue-lists.ts';
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
  const tx = context.database.autocommit();
  const { createdBy, ...within } = await named(context, viewer, query);
  const scope = {
    ...viewerOf(viewer),
    ...within,
    priorityRepositoryId: readId(query.priority_repo_id ?? ''),
    reviewRequested: viewer !== undefined && readBoolean(query.review_requested),
    reviewed: viewer !== undefined && readBoolean(query.reviewed),
  };
  const filter = { ...readFilter(query), ...relativeTo(viewer, query), ...createdBy };
  const slice = await inSearchTurn(filter, () =>
    issueLists.search(tx, scope, filter, { ...page, bytes: PART_BYTES }),
  );
  const { total, linked } = slice;
  const present = (part: issueLists.IssueSlice<issueLists.IssueAnywhere>) =>
    presentAnywhere(context, viewer, part.rows, part.people);
  const load = (ids: readonly number[]) => issueLists.listLeft(tx, ids, PART_BYTES);
  return {
    page,
    total,
    linked,
    items: await present(slice),
    rest: loadRest(slice, load, present),
  };
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

/** What the names in a query stand for. */
async function named(
  { database }: Context,
  viewer: Caller | undefined,
  { owner = '', team = '', created_by: creator = '' }: SearchQuery,
): Promise<{ ownerId: number | null; teamId: number | null; createdBy: { createdBy?: number } }> {
  if (team && !owner) throw badRequest('Owner organisation is required for filtering on team');
  if (!owner && !creator) return { ownerId: null, teamId: null, createdBy: {} };
  const names = { owner, team, creator };
  const found = await issueLists.findNamed(database.autocommit(), viewerOf(viewer), names);
  const [ownerId = null, teamId = null] = [found?.owner_id, found?.team_id];
  if (owner && ownerId === null) throw badRequest('Owner not found');
  if (team && teamId === null) throw badRequest('Team not found');
  // Nobody wrote what somebody who does not exist wrote.
  return { ownerId, teamId, createdBy: creator ? { createdBy: found?.creator_id ?? 0 } : {} };
}
