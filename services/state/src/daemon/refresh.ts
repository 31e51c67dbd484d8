import type { Call, Context } from '../context.ts';
import { reconcile } from '../rules/states/reconcile.ts';

/** Reads the storage again while nobody writes, believes it, and tells what differed. */
export async function refresh(call: Call, context: Context): Promise<void> {
  const { index, storage } = context;
  await inTurnOfAll(call, context, async () => {
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
    if (notes.length === 0 && homes) call.info(`nothing differed: ${scan.states.length} states`);
  });
}

/** Waits until no machine has a writer, and lets none begin meanwhile. */
async function inTurnOfAll(call: Call, context: Context, work: () => Promise<void>): Promise<void> {
  // Always in the same order, or two of them could wait for each other.
  const machines = context.index.model.machines.map(({ id }) => id).sort();
  const next = (at: number): Promise<void> => {
    const machine = machines[at];
    if (machine === undefined) return work();
    return context.turns.take(machine, call.operation, call.signal, () => next(at + 1));
  };
  await next(0);
}
