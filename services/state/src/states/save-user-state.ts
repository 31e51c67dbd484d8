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
  const hasAll = () => hasAllOwnSaves(context.index.model, request.userName);
  let mayHaveMore = false;
  for (;;) {
    // Outside of the turn: the system may take seconds to say it, and meanwhile nobody could save.
    if (hasAll()) mayHaveMore = await call.isAdministrator();
    if (hasAll() && !mayHaveMore) throw tooManyOwnSaves(request.userName, MAX_OWN_SAVES);
    const saved = await context.turns.take(machine.id, call.operation, call.signal, async () => {
      // Others may have saved the last ones before this turn came.
      if (hasAll() && !mayHaveMore) return undefined;
      return await saveStates(currentMachine(context.index.model), wanted, call, context);
    });
    if (saved !== undefined) return saved[0].name;
  }
}
