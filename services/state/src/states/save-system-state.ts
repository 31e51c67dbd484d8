import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { checkSaveRequest } from '../rules/states/save-plan.ts';
import type { RequestOf } from '../wire.ts';
import { saveStates } from './save-states.ts';

/**
 * Saves the machine that runs: its system, and with it the home of each of its users.
 * @returns the states' name; empty when an automatic save had nothing to do
 */
export async function saveSystemState(
  request: RequestOf<'SaveSystemState'>,
  call: Call,
  context: Context,
): Promise<string> {
  const wanted = { ...request, user: undefined };
  const machine = currentMachine(context.index.model);
  if (checkSaveRequest(wanted, machine) === 'skip') {
    call.info('this machine is not managed, so nothing was saved');
    return '';
  }
  return await context.turns.take(machine.id, call.operation, call.signal, async () => {
    const [state] = await saveStates(currentMachine(context.index.model), wanted, call, context);
    if (request.updateBootMenu) await refreshMenu(call, context, { make: true });
    return state.name;
  });
}
