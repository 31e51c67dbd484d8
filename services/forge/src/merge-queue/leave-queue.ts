import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { moveRefs, readRef } from '../outside/git/refs.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import { queueRef } from './queue-terms.ts';
import { removeEntry } from './remove-entry.ts';

/** Takes a pull request out of the merge queue, for whoever has the queue of branches; false when somebody was faster. */
export async function leaveQueue(context: Context, caller: Caller, entry: QueueEntry): Promise<boolean> {
  const { git, queues } = context;
  const { repository_id: id, base_branch: branch } = entry.row;
  // Its ref first: a row without one gets it again, but nobody would look for a ref without a row.
  const ref = queueRef(branch, entry.pull.number);
  if ((await readRef(git, id, ref)) !== undefined) await moveRefs(git, id, [{ ref }]);
  const left = await removeEntry(context, entry, caller.userId);
  queues.bell.ring(id);
  return left;
}
