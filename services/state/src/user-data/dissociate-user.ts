import type { Call, Context } from '../context.ts';
import { findOwner } from '../outside/identity/accounts.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { checkUserName, planDissociation } from '../rules/machines/user-data.ts';
import type { RequestOf } from '../wire.ts';
import { changeHomes } from './change-homes.ts';
import { checkHomeOwned } from './check-home-owned.ts';

/** Unlinks a user from the machine that runs; if he is wanted no more, deletes what is in his home. His states stay. */
export async function dissociateUser(
  request: RequestOf<'DissociateUser'>,
  call: Call,
  context: Context,
): Promise<void> {
  checkUserName(request.user);
  await changeHomes(call, context, async ({ homes }) => {
    const { model } = context.index;
    const { home, machines, empty } = planDissociation(
      model,
      currentMachine(model),
      request.user,
      request.removeHome,
    );
    if (empty) {
      const owner = await findOwner(context.directory, home.user);
      await checkHomeOwned(home, owner, 'call DissociateUser without removeHome', context);
    }
    await homes.link(home, machines, empty);
    if (request.removeHome && !empty)
      call.warning(`${home.path} was not emptied: ${request.user} has it on ${machines.join(', ')} as well`);
    // Last, because it cannot be undone; what interrupts it leaves a mark, by which the next call or start goes on.
    if (empty) for (const line of await homes.empty({ ...home, machines })) call.warning(line);
    return `${request.user} does not belong to this machine any more${empty ? `, and ${home.path} was emptied` : ''}`;
  });
}
