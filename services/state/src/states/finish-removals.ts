import type { Log } from '@croft/runtime';
import { currentStateRefused, storageRefused } from '../failures.ts';
import { isPartial, type State, statesInUse, storageName } from '../model/model.ts';
import type { Scan, Storage } from '../outside/storage/storage.ts';
import type { UnfinishedRemoval } from '../rules/states/reconcile.ts';
import { inOrder, isDependant, ownerOf } from '../rules/states/remove-plan.ts';

/**
 * Finishes at start what a crash or a failure left of removals. What cannot be removed now, as it is read or its pool is away, does
 * not keep the daemon from starting. Of one that would take the current state, nothing goes, and it is taken back when it has
 * taken nothing.
 * @returns removals that stay begun, each with the states that are left of it, and states of those that were taken back
 */
export async function finishRemovals(
  removals: readonly UnfinishedRemoval[],
  scan: Scan,
  storage: Storage,
  log: Log,
): Promise<{ readonly unfinished: readonly UnfinishedRemoval[]; readonly kept: readonly State[] }> {
  const unfinished: UnfinishedRemoval[] = [];
  const kept: State[] = [];
  const inUse = statesInUse(scan);
  for (const removal of removals) {
    const gone = new Set<string>();
    try {
      const current = removal.states.find(({ id, system }) => inUse.has(system ?? id));
      if (current !== undefined) {
        if (!(await isUntouched(removal, storage))) throw currentStateRefused(current.name);
        log.warn({}, `the removal of ${storageName(current)} is taken back: it is the current state`);
        kept.push(...removal.states);
        continue;
      }
      for await (const ids of partsGone(removal, storage)) for (const id of ids) gone.add(id);
    } catch (error) {
      const [state] = removal.ids;
      log.error(
        { err: error, state },
        'a removal could not be finished: ask again with force, or restart the daemon',
      );
      const states = removal.states.filter(({ id }) => !gone.has(id));
      unfinished.push({ ...removal, states });
    }
  }
  return { unfinished, kept };
}

/** Whether all that a removal names is there, as far as that can be told: what is not whole may have been. */
async function isUntouched(
  { ids, states, dependants }: UnfinishedRemoval,
  storage: Storage,
): Promise<boolean> {
  if (states.length < ids.length || states.some(isPartial)) return false;
  const found = new Set(((await storage.dependants?.(states)) ?? []).map(({ guid }) => guid));
  return dependants.every(({ guid }) => found.has(guid));
}

/** Takes what is left of a removal, and gives the ids of states as they go. */
async function* partsGone(
  { states, dependants }: UnfinishedRemoval,
  storage: Storage,
): AsyncGenerator<readonly string[]> {
  const found = (await storage.dependants?.(states)) ?? [];
  const agreed = new Set(dependants.map(({ guid }) => guid));
  // Nobody has agreed to what was made since, and what was idle then may have been booted, or somebody works in it.
  const other = found.find(
    (one) => one.inUse || one.isMounted || (!agreed.has(one.guid) && ownerOf({ states }, one) === undefined),
  );
  if (other !== undefined)
    throw storageRefused(
      'nothing more was removed',
      `${other.name} ${other.inUse || other.isMounted ? 'is in use' : 'was made since from what is to go'}`,
    );
  for (const part of inOrder(states, found)) {
    if (isDependant(part)) await storage.release?.([part]);
    else {
      await storage.destroy(part);
      await storage.lasting?.();
      yield part.map(({ id }) => id);
    }
  }
}
