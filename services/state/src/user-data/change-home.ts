import type { Call, Context } from '../context.ts';
import { findOwner } from '../outside/identity/accounts.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { homePath, planMove } from '../rules/machines/user-data.ts';
import type { RequestOf } from '../wire.ts';
import { changeHomes } from './change-homes.ts';
import { checkHomeApart } from './check-home-apart.ts';
import { checkHomeOwned, INSTEAD_OF_MOVING } from './check-home-owned.ts';

/** Moves the home that lies at a path, with its owner, mode and content. */
export async function changeHome(
  request: RequestOf<'ChangeHomeOnUserData'>,
  call: Call,
  context: Context,
): Promise<void> {
  const [from, to] = [homePath(request.home), homePath(request.newHome)];
  await changeHomes(call, context, async ({ homes }) => {
    const { model } = context.index;
    const machine = currentMachine(model);
    const home = planMove(model, machine, from, to);
    if (from === to) return `the home of ${home.user} is at ${to} already`;
    await checkHomeApart(model, machine, home.user, to);
    const owner = await findOwner(context.directory, home.user);
    await checkHomeOwned(home, owner, INSTEAD_OF_MOVING, context);
    await homes.move(home, to);
    return `the home of ${home.user} was moved from ${from} to ${to}`;
  });
}
