import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { presentAnywhere } from '../issues/present-issues.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as dependencies from '../store/issues/dependencies.ts';
import { type IssueAnywhere, type IssueSlice, listLeft } from '../store/issues/issue-lists.ts';

/**
 * A page of what an issue depends on or blocks; what the viewer may not read is left out, and not counted. What waits for
 * it may be where there are dependencies, so that is listed also where there are none.
 * @throws 404
 */
export async function listDependencies(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  side: dependencies.DependencySide,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const { issue, repository } = await findIssue(context, viewer, path);
  if (side === 'dependencies' && !repository.has_dependencies) throw notFound();
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const slice = await dependencies.list(tx, issue.id, side, viewerOf(viewer), { ...page, bytes: PART_BYTES });
  const present = ({ rows, people }: IssueSlice<IssueAnywhere>) =>
    presentAnywhere(context, viewer, rows, people);
  const load = (ids: readonly number[]) => listLeft(tx, ids, PART_BYTES);
  return { page, total: slice.total, items: await present(slice), rest: loadRest(slice, load, present) };
}
