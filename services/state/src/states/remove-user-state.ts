import type { Call, Context } from '../context.ts';
import { checkUserName } from '../rules/machines/user-data.ts';
import type { RequestOf } from '../wire.ts';
import { removeNamed } from './remove-states.ts';

/** Removes a state of one user's home. */
export async function removeUserState(
  request: RequestOf<'RemoveUserState'>,
  call: Call,
  context: Context,
): Promise<void> {
  checkUserName(request.userName);
  await removeNamed({ name: request.stateName, user: request.userName }, request, call, context);
}
