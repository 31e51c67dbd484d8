import type { Call, Context } from '../context.ts';
import type { Storage } from '../outside/storage/storage.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';

/**
 * Changes homes in the turn of the machine that runs, and reads them again whatever came of it. No save of it sees half of a
 * change.
 * @param change gives the line that says what was done
 */
export async function changeHomes(
  call: Call,
  context: Context,
  change: (storage: Storage) => Promise<string>,
): Promise<void> {
  const { index, storage, turns } = context;
  const machine = currentMachine(index.model);
  await turns.take(machine.id, call.operation, call.signal, async () => {
    try {
      call.info(await change(storage));
    } finally {
      index.found({ machines: index.model.machines, homes: await storage.homes.list() });
    }
  });
}
