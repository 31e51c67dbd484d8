import type { Tx } from '@croft/sql';
import type { Context } from '../context.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';

/** Takes a pull request out of its queue and says so in its timeline; false when somebody was faster. */
export async function removeEntry(
  { database }: Context,
  entry: QueueEntry,
  posterId: number,
  reason = '',
): Promise<boolean> {
  return await database.transaction((tx) => removeEntryIn(tx, entry, posterId, reason));
}

/** The same along with other changes. */
export async function removeEntryIn(
  tx: Tx,
  { row, pull }: QueueEntry,
  posterId: number,
  reason: string,
): Promise<boolean> {
  // The issue first, as everywhere.
  await issues.touch(tx, pull.issue_id);
  if (!(await mergeQueue.remove(tx, row.id))) return false;
  const why = reason === '' ? '' : `: ${reason}`;
  const body = `Removed from the merge queue of ${row.base_branch}${why}`;
  await comments.add(tx, { issueId: pull.issue_id, kind: 'pull_cancel_scheduled_merge', posterId, body });
  return true;
}
