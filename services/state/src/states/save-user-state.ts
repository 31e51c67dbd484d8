import type { Call, Context } from '../context.ts';
import { tooManyOwnSaves } from '../failures.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { checkUserName } from '../rules/machines/user-data.ts';
import { hasAllOwnSaves, MAX_OWN_SAVES } from '../rules/states/own-saves.ts';
import { checkSaveRequest } from '../rules/states/save-plan.ts';
import type { RequestOf } from '../wire.ts';
import { saveStates } from './save-states.ts';

/** Saves the home of one user of the machine that runs. @returns the state's name */
export async function saveUserState(
  request: RequestOf<'SaveUserState'>,
  call: Call,
  context: Context,
): Promise<string> {
  checkUserName(request.userName);
  const wanted = { stateName: request.stateName, autosave: false, user: request.userName };
  const machine = currentMachine(context.index.model);
  checkSaveRequest(wanted, machine);
  const [state] = await context.turns.take(machine.id, call.operation, call.signal, async () => {
    const { model } = context.index;
    if (hasAllOwnSaves(model, request.userName) && !(await call.isAdministrator()))
      throw tooManyOwnSaves(request.userName, MAX_OWN_SAVES);
    return await saveStates(currentMachine(model), wanted, call, context);
  });
  return state.name;
}
