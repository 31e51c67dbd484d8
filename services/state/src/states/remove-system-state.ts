import type { Call, Context } from '../context.ts';
import type { RequestOf } from '../wire.ts';
import { removeNamed } from './remove-states.ts';

/** Removes a state of a machine's system, and those of its users that were saved with it. */
export async function removeSystemState(
  request: RequestOf<'RemoveSystemState'>,
  call: Call,
  context: Context,
): Promise<void> {
  await removeNamed({ name: request.stateName, user: undefined }, request, call, context);
}
