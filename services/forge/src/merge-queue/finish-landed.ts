import { Failure } from '@croft/failure';
import type { Context } from '../context.ts';
import { deleteHeadBranch } from '../pulls/delete-head-branch.ts';
import { findActing } from '../repositories/find-acting.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import type { Attempts } from './attempts.ts';
import { dropQueueRefs } from './queue-refs.ts';
import type { QueuePlace } from './queue-terms.ts';

/**
 * Does what is left to do about pull requests that were merged by the queue, and takes them out of it. A branch that cannot be
 * deleted is tried again later, a few times, and keeps nobody waiting.
 */
export async function finishLanded(context: Context, place: QueuePlace, attempts: Attempts): Promise<void> {
  const tx = context.database.autocommit();
  const landed = await mergeQueue.listLanded(tx, place.repositoryId, place.branch);
  const done: QueueEntry[] = [];
  for (const entry of landed)
    if (!entry.row.delete_branch || (await deleteBranch(context, entry, attempts))) done.push(entry);
  if (done.length === 0) return;
  // Of those that were merged past the queue they are still there.
  await dropQueueRefs(context.git, done);
  const ids = done.map(({ row }) => row.id);
  await mergeQueue.removeAll(tx, ids);
  for (const id of ids) attempts.forget(id);
}

/** As the endpoint does after a merge; nobody waits to be told that the branch is to be kept. False to try again. */
async function deleteBranch(
  context: Context,
  { row, pull }: QueueEntry,
  attempts: Attempts,
): Promise<boolean> {
  try {
    const acting = await findActing(context, row.queued_by, row.repository_id);
    if (acting !== undefined) await deleteHeadBranch(context, acting.caller, { ...acting.found, pull });
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return true;
    const reason = error instanceof Error ? error.stack : String(error);
    const fields = { repository: row.repository_id, pull: pull.number, reason };
    context.log.error(fields, 'a merge queue could not delete a head branch');
    return attempts.fail(row.id, context.clock.now());
  }
  return true;
}
