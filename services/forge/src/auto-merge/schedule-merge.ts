import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { alreadyQueued, alreadyScheduled, baseMoved, headMoved, notFound } from '../failures.ts';
import { checkMerger, checkOpen, type PullToMerge } from '../pulls/check-merger.ts';
import { checkReady, type MergeWish } from '../pulls/prepare-merge.ts';
import { checkStyle } from '../rules/pulls/merge-style.ts';
import { checkRelated } from '../rules/pulls/mergeable.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';

/**
 * Merge rule 7: has a pull request merged by itself once what the protection requires is there, at once when it is there
 * already. What no waiting mends is refused as for a merge.
 * @throws 404, 405, 409 when it is scheduled or queued already, for unrelated histories, and when head or base changed meanwhile
 */
export async function scheduleMerge(
  context: Context,
  caller: Caller,
  found: PullToMerge,
  wanted: MergeWish & { deleteBranch: boolean; headCommit: string },
): Promise<void> {
  const { pull, repository } = found;
  const { style, title, message, headCommit } = wanted;
  const { protection } = await checkMerger(context, caller, found);
  const { outlook } = await checkReady(context, found, style, protection, { by: 'scheduled' });
  await context.database.transaction(async (tx) => {
    await issues.hold(tx, pull.issue_id);
    const now = await pulls.findById(tx, pull.id);
    if (now === undefined) throw notFound();
    checkOpen(now);
    // What was decided on was looked at, by whoever asks and by us: from here on, whoever changes it ends the schedule.
    if (now.base_branch !== pull.base_branch) throw baseMoved();
    if (now.head_sha !== (headCommit || pull.head_sha)) throw headMoved();
    const queued = await mergeQueue.findByPull(tx, pull.id);
    if (queued !== undefined && !queued.ended) throw alreadyQueued(queued.base_branch);
    const scheduled = await scheduledMerges.insert(tx, {
      pull_id: pull.id,
      repository_id: repository.id,
      scheduled_by: caller.userId,
      style,
      title,
      message,
      delete_branch: wanted.deleteBranch,
    });
    if (!scheduled) throw alreadyScheduled(pull.id);
    checkStyle(style, repository);
    checkRelated(outlook, style);
    await comments.add(tx, {
      kind: 'pull_scheduled_merge',
      issueId: pull.issue_id,
      posterId: caller.userId,
    });
  });
}
