import type { Call, Context } from '../context.ts';
import { contentOwner } from '../outside/content-owner.ts';
import { findOwner } from '../outside/identity/accounts.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { checkUserName, homePath, planHome } from '../rules/machines/user-data.ts';
import type { RequestOf } from '../wire.ts';
import { changeHomes } from './change-homes.ts';
import { checkHomeApart, checkStillHis } from './check-home-apart.ts';
import { checkHomeOwned, INSTEAD_OF_MOVING } from './check-home-owned.ts';

/** Makes the home of a user and links it to the machine that runs; one who has a home gets it at the path. */
export async function createUserData(
  request: RequestOf<'CreateUserData'>,
  call: Call,
  context: Context,
): Promise<void> {
  checkUserName(request.user);
  const path = homePath(request.homepath);
  await changeHomes(call, context, async ({ homes }) => {
    const { model } = context.index;
    const machine = currentMachine(model);
    const plan = planHome(model, machine, request.user, path);
    await checkHomeApart(model, machine, request.user, path);
    const owner = await findOwner(context.directory, request.user);
    await checkHomeOwned({ user: request.user, path }, owner, 'choose another path', context);
    switch (plan.do) {
      case 'create':
        await homes.create(plan.home, owner);
        return `${path} is the home of ${request.user} now`;
      case 'move':
        // Where something lies already, that becomes the home and nothing is moved.
        if ((await contentOwner(path)) === undefined) {
          await checkStillHis(model, plan.home);
          await checkHomeOwned(plan.home, owner, INSTEAD_OF_MOVING, context);
        }
        await homes.retarget(plan.home, plan.path, plan.machines, owner);
        await homes.link({ ...plan.home, path: plan.path }, plan.machines);
        return `the home of ${request.user} is at ${plan.path} now, and no longer at ${plan.home.path}`;
      case 'link':
        // Somebody may have deleted the folder meanwhile.
        await homes.create({ ...plan.home, machines: plan.machines }, owner);
        return `${path} is the home of ${request.user}`;
    }
  });
}
