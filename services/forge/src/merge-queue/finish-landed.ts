import { Failure } from '@croft/failure';
import type { Context } from '../context.ts';
import { deleteHeadBranch } from '../pulls/delete-head-branch.ts';
import { findActing } from '../repositories/find-acting.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import type { QueuePlace } from './queue-terms.ts';

/** Does what is left to do about pull requests that were merged by the queue, and takes them out of it. */
export async function finishLanded(context: Context, place: QueuePlace): Promise<void> {
  const tx = context.database.autocommit();
  const landed = await mergeQueue.listLanded(tx, place.repositoryId, place.branch);
  for (const entry of landed) if (entry.row.delete_branch) await deleteBranch(context, entry);
  if (landed.length > 0)
    await mergeQueue.removeAll(
      tx,
      landed.map(({ row }) => row.id),
    );
}

/** As the endpoint does after a merge; nobody waits to be told that the branch is to be kept. */
async function deleteBranch(context: Context, { row, pull }: QueueEntry): Promise<void> {
  try {
    const acting = await findActing(context, row.queued_by, row.repository_id);
    if (acting !== undefined) await deleteHeadBranch(context, acting.caller, { ...acting.found, pull });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}
