import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { alreadyQueued } from '../failures.ts';
import type { PullToMerge } from '../pulls/check-merger.ts';
import type { MergeWish } from '../pulls/prepare-merge.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';

/**
 * Puts a pull request that may be merged at the end of the queue of its base branch.
 * @throws 409 when it is there already
 */
export async function joinQueue(
  { database, queues }: Context,
  caller: Caller,
  { pull }: PullToMerge,
  wanted: MergeWish & { deleteBranch: boolean; head: string },
): Promise<void> {
  const { id, issue_id: issueId, base_branch: base } = pull;
  await database.transaction(async (tx) => {
    await issues.touch(tx, issueId);
    const joined = await mergeQueue.insert(tx, {
      pull_id: id,
      base_branch: base,
      queued_by: caller.userId,
      style: wanted.style,
      title: wanted.title,
      message: wanted.message,
      delete_branch: wanted.deleteBranch,
      head_sha: wanted.head,
    });
    if (!joined) throw alreadyQueued(base);
    // What was to happen later happens now.
    await scheduledMerges.remove(tx, id);
    const body = `Added to the merge queue of ${base}`;
    await comments.add(tx, { issueId, kind: 'pull_scheduled_merge', posterId: caller.userId, body });
  });
  queues.bell.ring(pull.repository_id);
}
