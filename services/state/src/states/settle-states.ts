import type { Log } from '@croft/runtime';
import { Journal } from '../model/journal.ts';
import type { State } from '../model/model.ts';
import { StateIndex, worthKnowing } from '../model/state-index.ts';
import type { Storage } from '../outside/storage/storage.ts';
import { reconcile } from '../rules/reconcile.ts';

/** Opens the index at start: finishes or clears away what a crash left, and believes the storage where the two differ. */
export async function settleStates(folder: string, storage: Storage, log: Log): Promise<StateIndex> {
  const { journal, remembered } = await Journal.open(folder);
  const scan = await storage.scan();
  const todo = reconcile(remembered.states, remembered.intents, scan.states, scan.leftovers);
  for (const note of todo.notes) log.warn({}, note);
  for (const states of bySave(todo.destroy)) await storage.destroy(states);
  for (const id of todo.discard) await storage.discard(id);
  if (todo.collect) log.info({ ...(await storage.collect()) }, 'freed what interrupted writes had left');
  await journal.writeCheckpoint(todo.states).catch((error) => {
    // A daemon that starts on a full disk is needed to make room on it; what is settled now is settled again next time.
    log.error({ err: error }, 'the checkpoint could not be written');
  });
  const machines = worthKnowing(scan.machines, todo.states);
  return new StateIndex(journal, { machines, homes: scan.homes, states: todo.states });
}

function bySave(states: readonly State[]): readonly (readonly State[])[] {
  return [...Map.groupBy(states, ({ id, system }) => system ?? id).values()];
}
