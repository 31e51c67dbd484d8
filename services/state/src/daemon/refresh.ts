import type { Call, Context } from '../context.ts';
import { counted } from '../rules/machines/sizes.ts';
import { reconcile } from '../rules/states/reconcile.ts';

/** Reads the storage again while nobody writes, believes it, and tells what differed. */
export async function refresh(call: Call, context: Context): Promise<void> {
  const { index, storage } = context;
  // No machine has a writer, and none begins meanwhile, nor one of which there are only states.
  const { machines: known, states } = index.model;
  const machines = [...known.map(({ id }) => id), ...states.map(({ machine }) => machine)];
  await context.turns.takeAll(machines, call.operation, call.signal, async () => {
    const scan = await storage.scan({ alone: true });
    // No write is under way, so what no record needs came too late or lost its record.
    const doubts = { ...scan, canKeep: storage.keep !== undefined };
    const plan = reconcile(index.model.states, [], scan.states, scan.leftovers, doubts);
    const { notes, keep, discard, collect } = plan;
    for (const id of keep) await storage.keep?.(id);
    for (const id of discard)
      await storage
        .discard(id)
        .catch((error: Error) => call.warning(`the save ${id} could not be cleared away: ${error.message}`));
    if (collect)
      await storage
        .collect()
        .catch((error: Error) => call.warning(`what nobody needs could not be freed: ${error.message}`));
    const homes = JSON.stringify(index.model.homes) === JSON.stringify(scan.homes);
    await index.refreshed(scan);
    for (const note of notes) call.info(note);
    if (!homes) call.info('the homes differed and were read anew');
    if (notes.length === 0 && homes) call.info(`nothing differed: ${counted(scan.states.length, 'state')}`);
  });
}
