import type { Log } from '@croft/runtime';
import { Journal } from '../model/journal.ts';
import type { Home } from '../model/model.ts';
import { StateIndex, worthKnowing } from '../model/state-index.ts';
import type { Storage } from '../outside/storage/storage.ts';
import { reconcile } from '../rules/states/reconcile.ts';
import { completeSaves } from './complete-saves.ts';
import { finishRemovals } from './finish-removals.ts';

/** The index as it is opened. */
interface Settled {
  readonly index: StateIndex;
  /** Something differs from what is written down, so that a checkpoint is due. */
  readonly differs: boolean;
  /** A boot menu may offer what is gone. */
  readonly hasRemovals: boolean;
}

/** Opens the index at start: finishes or clears away what a crash left, and believes the storage where the two differ. */
export async function settleStates(folder: string, storage: Storage, log: Log): Promise<Settled> {
  const { journal, remembered } = await Journal.open(folder);
  await using opened = new AsyncDisposableStack();
  opened.defer(() => journal.close());
  const incomplete = await completeSaves(remembered.intents, storage, log);
  const intents = remembered.intents.filter((intent) => !incomplete.includes(intent));
  const scan = await storage.scan({ alone: true, remembered: remembered.whole });
  const doubts = { ...scan, canKeep: storage.keep !== undefined };
  const plan = reconcile(remembered.states, intents, scan.states, scan.leftovers, doubts);
  for (const note of [...(scan.notes ?? []), ...plan.notes]) log.warn({}, note);
  const removals = await finishRemovals(plan.finish, scan, storage, log);
  const { unfinished } = removals;
  const left = unfinished.flatMap((removal) => removal.states);
  const kept = new Set([...plan.states, ...removals.kept, ...left]);
  const states = scan.states.filter((state) => kept.has(state));
  for (const id of plan.keep) await storage.keep?.(id);
  // What cannot be cleared away now, as somebody needs it or a list is damaged, keeps nobody from the rest.
  for (const id of plan.discard)
    await storage
      .discard(id)
      .catch((error) => log.error({ err: error, save: id }, 'a begun save could not be cleared away'));
  if (plan.collect)
    await storage.collect().then(
      (freed) => log.info({ ...freed }, 'freed what interrupted writes had left'),
      (error) => log.error({ err: error }, 'what interrupted writes had left could not be freed'),
    );
  const machines = worthKnowing(scan.machines, states);
  const homes = await finishEmptying(scan.homes, storage, log);
  const index = new StateIndex(journal, { machines, homes, states }, unfinished, incomplete);
  opened.move();
  return {
    index,
    differs: plan.notes.length > 0 || !remembered.isSettled,
    hasRemovals: remembered.hasRemovals,
  };
}

/** Homes whose content was being deleted. What cannot be deleted now does not keep the daemon from starting. */
async function finishEmptying(homes: readonly Home[], storage: Storage, log: Log): Promise<readonly Home[]> {
  const unfinished = homes.filter(({ emptying }) => emptying);
  for (const home of unfinished) {
    // Somebody may work in it again.
    if (home.machines.length > 0) {
      log.warn(
        {},
        `${home.path} belongs to a machine again and was not emptied, though it is marked for that`,
      );
      continue;
    }
    try {
      log.warn({}, `emptying ${home.path} was interrupted and is finished now`);
      for (const line of await storage.homes.empty(home)) log.warn({}, line);
    } catch (error) {
      log.error({ err: error, home: home.path }, 'a home could not be emptied');
    }
  }
  return unfinished.length === 0 ? homes : storage.homes.list();
}
