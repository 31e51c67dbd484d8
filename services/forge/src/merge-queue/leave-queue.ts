import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import { dropQueueRefs } from './queue-refs.ts';
import { removeEntry } from './remove-entry.ts';

/** Takes a pull request out of the merge queue, for whoever has the queue of branches; false when somebody was faster. */
export async function leaveQueue(context: Context, caller: Caller, entry: QueueEntry): Promise<boolean> {
  const { git, queues } = context;
  await dropQueueRefs(git, [entry]);
  const left = await removeEntry(context, entry, caller.userId);
  queues.bell.ring(entry.row.repository_id);
  return left;
}
