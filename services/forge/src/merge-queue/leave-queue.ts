import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { moveRefs, readRef } from '../outside/git/refs.ts';
import type { PullToMerge } from '../pulls/check-merger.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import { queueRef } from './queue-terms.ts';
import { removeEntry } from './remove-entry.ts';

/**
 * Takes a pull request out of the merge queue, for who put it there and for writers; false when it is in none.
 * @throws 403, 423
 */
export async function leaveQueue(context: Context, caller: Caller, found: PullToMerge): Promise<boolean> {
  const { database, git, queues } = context;
  const { pull } = found;
  const { repository_id: repositoryId } = pull;
  const left = await queues.inTurn(branchQueue(repositoryId), async () => {
    const row = await mergeQueue.findByPull(database.autocommit(), pull.id);
    if (row === undefined) return false;
    if (row.queued_by !== caller.userId && !mayWrite(found, 'code'))
      throw forbidden('user should have a permission to write to a repo');
    checkNotArchived(found);
    // Its ref first: a row without one gets it again, but nobody would look for a ref without a row.
    const ref = queueRef(row.base_branch, pull.number);
    if ((await readRef(git, repositoryId, ref)) !== undefined) await moveRefs(git, repositoryId, [{ ref }]);
    return await removeEntry(context, { row, pull }, caller.userId);
  });
  if (left) queues.bell.ring(repositoryId);
  return left;
}
