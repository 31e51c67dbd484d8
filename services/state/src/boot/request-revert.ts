import type { Call, Context } from '../context.ts';
import { stillStartedOnce } from '../failures-extras.ts';
import { isPartial, savedWith, storageName } from '../model/model.ts';
import { planRevertRequest } from '../rules/boot/boot-plan.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import type { ExtraRequestOf } from '../wire-extras.ts';
import { forgetOnce, startOnce } from './boot-once.ts';
import { markMachine } from './mark-machine.ts';

/** Asks that the next boot goes back to a state; whatever was asked for before no longer counts. */
export async function requestRevert(
  { stateName, users }: ExtraRequestOf<'RequestRevert'>,
  call: Call,
  context: Context,
): Promise<void> {
  const { index, boot, turns } = context;
  await turns.take(currentMachine(index.model).id, call.operation, call.signal, async () => {
    const machine = currentMachine(index.model);
    const state = planRevertRequest(index.model, machine, stateName);
    const nextRevert = { users, askedIn: boot.id };
    // Where only another root goes back, the boot loader has to start it.
    if (machine.revertTo !== undefined) await startOnce(state, nextRevert, machine, call, context);
    else await markMachine(context, machine.id, { nextState: state.id, nextRevert });
    if (isPartial(state))
      call.warning(`${storageName(state)} is partial: what is missing in it stays as it is`);
    if (users && savedWith(index.model.states, state).length === 1)
      call.warning(`no home was saved with ${storageName(state)}, so none goes back`);
    call.info(
      `the next boot goes back to ${storageName(state)}${users ? ', homes too' : ''}; what is there then is saved before`,
    );
  });
}

/** The next boot goes on from what is there. */
export async function cancelRevert(call: Call, context: Context): Promise<void> {
  const { index, turns } = context;
  await turns.take(currentMachine(index.model).id, call.operation, call.signal, async () => {
    const { id, nextState, nextRevert, revertTo } = currentMachine(index.model);
    // First: without the mark nobody would look there again. And without one: a boot may have left something there.
    const why = revertTo === undefined ? undefined : await forgetOnce(nextRevert?.loaders, context);
    if (why !== undefined) throw stillStartedOnce(why);
    if (nextState === undefined) {
      call.info('the next boot goes back to no state anyway');
      return;
    }
    await markMachine(context, id, { nextState: undefined, nextRevert: undefined });
    call.info('the next boot goes back to no state any more');
  });
}
