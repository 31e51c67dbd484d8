import type { Log } from '@croft/runtime';
import { Journal } from '../model/journal.ts';
import type { Home, State } from '../model/model.ts';
import { StateIndex, worthKnowing } from '../model/state-index.ts';
import type { Storage } from '../outside/storage/storage.ts';
import { reconcile } from '../rules/states/reconcile.ts';

/** Opens the index at start: finishes or clears away what a crash left, and believes the storage where the two differ. */
export async function settleStates(folder: string, storage: Storage, log: Log): Promise<StateIndex> {
  const { journal, remembered } = await Journal.open(folder);
  const scan = await storage.scan();
  const todo = reconcile(remembered.states, remembered.intents, scan.states, scan.leftovers);
  for (const note of todo.notes) log.warn({}, note);
  for (const states of bySave(todo.destroy)) await storage.destroy(states);
  for (const id of todo.discard) await storage.discard(id);
  if (todo.collect) log.info({ ...(await storage.collect()) }, 'freed what interrupted writes had left');
  // What is written down already is not written again: with thousands of states that takes longer than all before.
  if (todo.notes.length > 0 || !remembered.isCheckpoint)
    await journal.writeCheckpoint(todo.states).catch((error) => {
      // A daemon that starts on a full disk is needed to make room on it; what is settled now is settled again next time.
      log.error({ err: error }, 'the checkpoint could not be written');
    });
  const machines = worthKnowing(scan.machines, todo.states);
  const homes = await finishEmptying(scan.homes, storage, log);
  return new StateIndex(journal, { machines, homes, states: todo.states });
}

/** Homes whose content was being deleted. What cannot be deleted now does not keep the daemon from starting. */
async function finishEmptying(homes: readonly Home[], storage: Storage, log: Log): Promise<readonly Home[]> {
  const unfinished = homes.filter(({ emptying }) => emptying);
  for (const home of unfinished) {
    try {
      log.warn({}, `emptying ${home.path} was interrupted and is finished now`);
      for (const line of await storage.homes.empty(home)) log.warn({}, line);
    } catch (error) {
      log.error({ err: error, home: home.path }, 'a home could not be emptied');
    }
  }
  return unfinished.length === 0 ? homes : storage.homes.list();
}

function bySave(states: readonly State[]): readonly (readonly State[])[] {
  return [...Map.groupBy(states, ({ id, system }) => system ?? id).values()];
}
