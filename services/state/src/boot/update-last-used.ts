import type { Call, Context } from '../context.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { timeText } from '../rules/machines/machine-text.ts';
import { markMachine } from './mark-machine.ts';

/** Writes down that the machine was in use until now. On one that is not managed nothing is written. */
export async function updateLastUsed(call: Call, context: Context): Promise<void> {
  const { index, turns, clock } = context;
  const { id, managed } = currentMachine(index.model);
  if (!managed) {
    // The unit that calls this at shutdown runs on every host.
    call.info('this machine is not managed, so nothing was written');
    return;
  }
  await turns.take(id, call.operation, call.signal, async () => {
    const lastUsedAt = clock.now().toISOString();
    await markMachine(context, id, { lastUsedAt });
    call.info(`${id} was last used ${timeText(lastUsedAt)}`);
  });
}
