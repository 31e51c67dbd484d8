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
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';

/**
 * Lets a scheduled merge not happen, or takes a pull request out of the merge queue. In the queue of branches: one that
 * was cancelled is not under way.
 * @throws 403 for somebody who neither asked for it nor may merge, 404 when there is nothing to cancel, 423
 */
export async function cancelScheduledMerge(
  context: Context,
  caller: Caller,
  path: NumberedPath,
): Promise<void> {
  const found = await findPull(context, caller, path);
  const { id, repository_id: repositoryId } = found.pull;
  await betweenMerges(context, { id, repositoryId }, async (pull) => {
    // Its row in the queue goes when that is recorded.
    if (pull.merged_at !== null) throw notFound();
    const tx = context.database.autocommit();
    const [queued, scheduled] = [await mergeQueue.findByPull(tx, id), await scheduledMerges.find(tx, id)];
    if (queued === undefined && scheduled === undefined) throw notFound();
    const isOwn =
      (queued?.queued_by ?? caller.userId) === caller.userId &&
      (scheduled === undefined || scheduled.scheduled_by === caller.userId);
    if (!isOwn) await checkMayCancel(context, caller, { ...found, pull });
    checkNotArchived(found);
    // Both: what is scheduled would come back to the queue.
    const ended = scheduled !== undefined && (await endSchedule(context, pull, caller.userId));
    const left = queued !== undefined && (await leaveQueue(context, caller, { row: queued, pull }));
    if (!ended && !left) throw notFound();
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
