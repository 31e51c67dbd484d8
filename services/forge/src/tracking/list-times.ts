import type { Caller } from '../caller/caller.ts';
import { unitOf } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, trackingDisabled } from '../failures.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { presentAnywhere } from '../issues/present-issues.ts';
import { asksForPage, type ListPage, loadRest, PART_BYTES, pageOf, WHOLE_LIST } from '../list-answer.ts';
import { findRepository, mayWrite } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { planBeginning } from '../rules/requests/paging.ts';
import { readTimeRange } from '../rules/requests/read-time.ts';
import * as timeline from '../store/issues/timeline.ts';
import * as users from '../store/people/users.ts';
import * as trackedTimes from '../store/tracking/tracked-times.ts';
import { trackedTimeJson } from './tracking-json.ts';

/** What lists of times can be asked for. */
export interface TimesQuery {
  user?: string | undefined;
  since?: string | undefined;
  before?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/**
 * Times spent on an issue: writers see everybody's, others their own.
 * @throws 403, 404, also where nobody notes time, 422
 */
export async function listIssueTimes(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  query: TimesQuery,
): Promise<ListPage> {
  const found = await findIssue(context, caller, path);
  if (!found.repository.tracks_time) throw notFound('Timetracker is disabled');
  const seesOthers = mayWrite(found, unitOf(found.issue.is_pull));
  const userId = await findWhose(context, caller, query.user, seesOthers);
  return await list(context, caller, query, { issueId: found.issue.id, repositoryId: undefined, userId });
}

/**
 * Times spent in a repository: writers see everybody's, others their own.
 * @param isWhole whether all of them are told where no page is asked for
 * @throws 400 where nobody notes time, 403, 404, 422
 */
export async function listRepositoryTimes(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  query: TimesQuery,
  isWhole = false,
): Promise<ListPage> {
  const found = await findRepository(context, caller, path);
  if (!found.repository.tracks_time) throw trackingDisabled();
  const seesOthers = mayWrite(found, 'issues') && mayWrite(found, 'pulls');
  const userId = await findWhose(context, caller, query.user, seesOthers);
  const whose = { issueId: undefined, repositoryId: found.repository.id, userId };
  return await list(context, caller, query, whose, isWhole && !asksForPage(query));
}

/** Times the caller spent, on what he may read. */
export async function listOwnTimes(context: Context, caller: Caller, query: TimesQuery): Promise<ListPage> {
  const whose = { issueId: undefined, repositoryId: undefined, userId: caller.userId };
  return await list(context, caller, query, whose);
}

/**
 * The account a list is limited to.
 * @throws 403 for somebody else's times without permission, 404 for nobody
 */
async function findWhose(
  { database }: Context,
  caller: Caller,
  name: string | undefined,
  seesOthers: boolean,
): Promise<number | undefined> {
  if (!name) return seesOthers ? undefined : caller.userId;
  if (name.toLowerCase() === caller.user.login_key) return caller.userId;
  if (!seesOthers) throw forbidden('query by user not allowed; not enough rights');
  const user = await users.findByLogin(database.autocommit(), name);
  if (user === undefined) throw notFound();
  return user.id;
}

async function list(
  context: Context,
  caller: Caller,
  query: TimesQuery,
  whose: Pick<trackedTimes.TimeFilter, 'issueId' | 'repositoryId' | 'userId'>,
  isWhole = false,
): Promise<ListPage> {
  const page = isWhole ? WHOLE_LIST : pageOf(context, query);
  const tx = context.database.autocommit();
  const filter = { ...whose, ...readTimeRange(query) };
  const { rows, total } = await trackedTimes.list(tx, filter, viewerOf(caller), page);
  const beginning = isWhole
    ? planBeginning(rows.length, total, context.settings.MAX_RESPONSE_ITEMS)
    : undefined;
  const first = splitTimes(rows.slice(0, beginning?.shown));
  const present = (part: typeof first) => presentTimes(context, caller, part.rows);
  const rest = loadRest(first, splitTimes, present);
  return { page, total, beginning, items: await present(first), rest };
}

/** As many times as may be shown at once, at least one. */
function splitTimes(times: readonly trackedTimes.ListedTimeRow[]) {
  let bytes = 0;
  const end = times.findIndex((row, index) => {
    bytes += row.issue_bytes;
    return index > 0 && bytes > PART_BYTES;
  });
  return end === -1 ? { rows: times, left: [] } : { rows: times.slice(0, end), left: times.slice(end) };
}

/** Times with their issues. */
export async function presentTimes(
  context: Context,
  viewer: Caller,
  rows: readonly trackedTimes.TrackedTimeRow[],
) {
  if (rows.length === 0) return [];
  const tx = context.database.autocommit();
  const people = rows.map((row) => row.user_id).filter((id) => id !== null);
  const [accounts, found] = await Promise.all([
    users.mapByIds(tx, [...new Set(people)]),
    timeline.listReadableIssues(tx, [...new Set(rows.map((row) => row.issue_id))], viewerOf(viewer)),
  ]);
  const issues = new Map((await presentAnywhere(context, viewer, found)).map((issue) => [issue.id, issue]));
  return rows.map((row) => {
    const user = (row.user_id !== null && accounts.get(row.user_id)) || users.GHOST;
    return trackedTimeJson(row, user, issues.get(row.issue_id) ?? null);
  });
}
