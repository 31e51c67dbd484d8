import { Failure } from '@croft/failure';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { leaveQueue } from '../merge-queue/leave-queue.ts';
import { betweenMerges } from '../pulls/change-pull.ts';
import { checkMerger, type PullToMerge } from '../pulls/check-merger.ts';
import { findPull } from '../pulls/find-pull.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';

/**
 * Lets a scheduled merge not happen, or takes a pull request out of the merge queue. In the queue of branches: one that
 * was cancelled is not under way.
 * @throws 403 for somebody who neither scheduled it nor may merge, 404 when nothing is scheduled, 423
 */
export async function cancelScheduledMerge(
  context: Context,
  caller: Caller,
  path: NumberedPath,
): Promise<void> {
  const found = await findPull(context, caller, path);
  if (await leaveQueue(context, caller, found)) return;
  const { id, repository_id: repositoryId } = found.pull;
  await betweenMerges(context, { id, repositoryId }, async (pull) => {
    const scheduled = await scheduledMerges.find(context.database.autocommit(), id);
    if (scheduled === undefined) throw notFound();
    if (scheduled.scheduled_by !== caller.userId) await checkMayCancel(context, caller, { ...found, pull });
    checkNotArchived(found);
    if (!(await endSchedule(context, pull, caller.userId))) throw notFound();
  });
}

async function checkMayCancel(context: Context, caller: Caller, found: PullToMerge): Promise<void> {
  await checkMerger(context, caller, found).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw forbidden('user has no permission to cancel the scheduled auto merge');
  });
}

/** Takes a scheduled merge back, and says so in the timeline; false when there is none any more. */
export async function endSchedule(
  { database }: Context,
  pull: { id: number; issue_id: number },
  actorId: number | null,
): Promise<boolean> {
  return await database.transaction(async (tx) => {
    await issues.lockById(tx, pull.issue_id);
    if (!(await scheduledMerges.remove(tx, pull.id))) return false;
    await comments.add(tx, {
      kind: 'pull_cancel_scheduled_merge',
      issueId: pull.issue_id,
      posterId: actorId,
    });
    return true;
  });
}
