import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { mayNotMerge } from '../failures.ts';
import { checkMergeIsPossible, checkMerger, type PullToMerge } from '../pulls/check-merger.ts';
import { type Acting, findActing } from '../repositories/find-acting.ts';
import { checkNotArchived, mayRead } from '../repositories/find-repository.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';

/** In whose name something is merged, and what, as he sees it. */
export interface Merger {
  caller: Caller;
  found: PullToMerge;
}

/**
 * Who queued pull requests into one branch, as long as they may still merge into it; everybody is looked up once.
 * @throws 405, 423 when he may not any more, and when nobody may
 */
export function mergersOf(context: Context): (entry: QueueEntry) => Promise<Merger> {
  const known = new Map<number, Promise<Acting>>();
  return async (entry) => {
    const { pull } = entry;
    const asked = known.get(entry.row.queued_by) ?? findAllowed(context, entry);
    known.set(entry.row.queued_by, asked);
    const { caller, found: repository } = await asked;
    const found = { ...repository, pull };
    checkMergeIsPossible(found);
    return { caller, found };
  };
}

async function findAllowed(context: Context, { row, pull }: QueueEntry): Promise<Acting> {
  const acting = await findActing(context, row.queued_by, row.repository_id);
  if (acting === undefined) throw mayNotMerge();
  // Without the unit there are no pull requests, to him or to anybody.
  if (!mayRead(acting.found, 'pulls')) throw mayNotMerge();
  checkNotArchived(acting.found);
  await checkMerger(context, acting.caller, { ...acting.found, pull });
  return acting;
}
