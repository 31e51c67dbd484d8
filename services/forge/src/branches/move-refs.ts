import type { Tx } from '@croft/sql';
import type { Context } from '../context.ts';
import { beginPush, followRename, recordPush } from '../git-http/record-push.ts';
import { moveRefs, NO_COMMIT } from '../outside/git/refs.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import type { PushDetails, PushRow } from '../store/repositories/pushes.ts';

/** What is to move, and what comes of it. */
export interface PlannedMoves<T> extends PushDetails {
  result: T;
  /** Writes down together with the intent what stands or falls with it. */
  together?: (tx: Tx) => Promise<Partial<PushDetails>>;
}

/** Refs that moved, and what the next start would have to know of it. */
interface Moved<T> {
  push: PushRow;
  result: T;
}

/**
 * Moves refs by our own hand, as a push would: in the queue of branches, intent, compare-and-swap and the new name of a branch
 * that got one; then, with the queue free again, the record.
 * @param prepare decides what to move, once nothing of ours moves any more; `again` when somebody was faster
 */
export async function moveInTurn<T>(
  context: Context,
  repositoryId: number,
  actorId: number,
  prepare: () => Promise<PlannedMoves<T>>,
  lost: () => Error,
): Promise<T> {
  const { push, result } = await context.queues.inTurn(branchQueue(repositoryId), async () => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { result: prepared, together, ...details } = await prepare();
      const done = await swapRefs(context, repositoryId, actorId, details, together);
      if (done === undefined) continue;
      return { push: await followRename(context, done), result: prepared } satisfies Moved<T>;
    }
    throw lost();
  });
  // Should the client be gone: the refs have moved all the same.
  await context.queues.track(recordPush(context, push, push.details.moves));
  return result;
}

/** Pushes by git's protocol do not stand in the queue, so that somebody may be faster, but hardly five times. */
const ATTEMPTS = 5;

/**
 * Intent and compare-and-swap, for somebody who has the queue of branches; undefined when somebody was faster. Whoever gets
 * the row records it, with the queue free again.
 * @throws what git fails with: then the refs say what happened, and it is recorded without waiting
 */
export async function swapRefs(
  context: Context,
  repositoryId: number,
  actorId: number,
  details: PushDetails,
  together?: PlannedMoves<unknown>['together'],
): Promise<PushRow | undefined> {
  const push = await beginPush(context, repositoryId, actorId, details, together);
  const changes = details.moves.map(({ ref, before, after }) =>
    after === NO_COMMIT ? { ref, old: before } : { ref, old: before, new: after },
  );
  try {
    if ((await moveRefs(context.git, repositoryId, changes)) === 'done') return push;
  } catch (error) {
    void context.queues.track(recordPush(context, push));
    throw error;
  }
  await recordPush(context, push, []);
  return undefined;
}
