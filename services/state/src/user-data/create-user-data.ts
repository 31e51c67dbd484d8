import type { Call, Context } from '../context.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { checkUserName, homePath, planHome } from '../rules/machines/user-data.ts';
import type { RequestOf } from '../wire.ts';
import { changeHomes } from './change-homes.ts';
import { checkHomeApart } from './check-home-apart.ts';

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
    switch (plan.do) {
      case 'create':
        await homes.create(plan.home);
        return `${path} is the home of ${request.user} now`;
      case 'move':
        await homes.retarget(plan.home, plan.path, plan.machines);
        await homes.link({ ...plan.home, path: plan.path }, plan.machines);
        return `the home of ${request.user} is at ${plan.path} now, and no longer at ${plan.home.path}`;
      case 'link':
        // Somebody may have deleted the folder meanwhile.
        await homes.create({ ...plan.home, machines: plan.machines });
        return `${path} is the home of ${request.user}`;
    }
  });
}
