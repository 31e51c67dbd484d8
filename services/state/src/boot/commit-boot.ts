import type { Call, Context } from '../context.ts';
import { planCommitBoot } from '../rules/boot-plan.ts';
import { currentMachine } from '../rules/find-machine.ts';
import { markMachine } from './mark-machine.ts';
import { refreshMenu } from './update-boot-menu.ts';

/**
 * The boot was good: writes down its kernel and its time, and that the way back to a state is at its end.
 * @returns whether something is not as it was after the last boot
 */
export async function commitBoot(call: Call, context: Context): Promise<boolean> {
  const { index, boot, turns, clock } = context;
  const { id } = currentMachine(index.model);
  return await turns.take(id, call.operation, call.signal, async () => {
    const machine = currentMachine(index.model);
    if (!machine.managed) {
      call.info('this machine is not managed, so nothing was written');
      return false;
    }
    const { kernel, changed, arrived, prepared } = planCommitBoot(index.model, machine, boot.commandLine);
    await markMachine(context, id, { kernel, lastUsedAt: clock.now().toISOString(), prepared });
    if (arrived !== undefined) call.info(`${id} goes on from ${arrived}`);
    if (kernel !== machine.kernel) call.info(`${id} boots with ${kernel}`);
    if (changed) await refreshMenu(call, context, { make: false });
    return changed;
  });
}
