import type { Log } from '@croft/runtime';
import { storageRefused } from '../failures.ts';
import type { Storage } from '../outside/storage/storage.ts';
import type { UnfinishedRemoval } from '../rules/states/reconcile.ts';
import { inOrder, isDependant, ownerOf } from '../rules/states/remove-plan.ts';

/**
 * Finishes at start what a crash or a failure left of removals. What cannot be removed now, as it is read or its pool is away, does
 * not keep the daemon from starting.
 * @returns removals that stay begun until the next start, each with the states that are left of it
 */
export async function finishRemovals(
  removals: readonly UnfinishedRemoval[],
  storage: Storage,
  log: Log,
): Promise<readonly UnfinishedRemoval[]> {
  const unfinished: UnfinishedRemoval[] = [];
  for (const removal of removals) {
    const gone = new Set<string>();
    try {
      for await (const ids of partsGone(removal, storage)) for (const id of ids) gone.add(id);
    } catch (error) {
      const [state] = removal.ids;
      log.error({ err: error, state }, 'a removal could not be finished; the next start tries again');
      const states = removal.states.filter(({ id }) => !gone.has(id));
      unfinished.push({ ...removal, states });
    }
  }
  return unfinished;
}

/** Takes what is left of a removal, and gives the ids of states as they go. */
async function* partsGone(
  { states, dependants }: UnfinishedRemoval,
  storage: Storage,
): AsyncGenerator<readonly string[]> {
  const found = (await storage.dependants?.(states)) ?? [];
  const agreed = new Set(dependants.map(({ guid }) => guid));
  // Nobody has agreed to what was made since, and what was idle then may have been booted.
  const other = found.find(
    (one) => one.inUse || (!agreed.has(one.guid) && ownerOf({ states }, one) === undefined),
  );
  if (other !== undefined)
    throw storageRefused(
      'nothing more was removed',
      `${other.name} ${other.inUse ? 'is in use' : 'was made since from what is to go'}`,
    );
  for (const part of inOrder(states, found)) {
    if (isDependant(part)) await storage.release?.([part]);
    else {
      await storage.destroy(part);
      yield part.map(({ id }) => id);
    }
  }
}
