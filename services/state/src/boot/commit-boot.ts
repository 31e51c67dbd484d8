import type { Call, Context } from '../context.ts';
import { planCommitBoot } from '../rules/boot/boot-plan.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { markMachine } from './mark-machine.ts';
import { refreshMenu } from './update-boot-menu.ts';

/**
 * The boot was good: writes down its kernel and its time, and that the way back to a state is at its end.
 * @returns whether something is not as it was after the last boot
 */
export async function commitBoot(call: Call, context: Context): Promise<boolean> {
  const { index, storage, boot, turns, clock } = context;
  const { id } = currentMachine(index.model);
  return await turns.take(id, call.operation, call.signal, async () => {
    const machine = currentMachine(index.model);
    if (!machine.managed) {
      call.info('this machine is not managed, so nothing was written');
      return false;
    }
    const plan = planCommitBoot(index.model, machine, boot.commandLine);
    const { kernel, arrived, prepared } = plan;
    const tookOver = (await storage.commitBoot?.(id)) === true;
    const changed = plan.changed || tookOver;
    if (tookOver) await rereadStates(context);
    await markMachine(context, id, { kernel, lastUsedAt: clock.now().toISOString(), prepared });
    if (arrived !== undefined) call.info(`${id} goes on from ${arrived}`);
    if (kernel !== machine.kernel) call.info(`${id} boots with ${kernel}`);
    if (changed) await refreshMenu(call, context, { make: false });
    return changed;
  });
}

/** States are what they were; their snapshots may be called otherwise. */
async function rereadStates({ index, storage, log }: Context): Promise<void> {
  const scan = await storage.scan();
  index.found(scan);
  await index.annotated(scan.states).catch((error) => {
    log.error({ err: error }, 'the journal could not be written; the storage has it');
  });
}
