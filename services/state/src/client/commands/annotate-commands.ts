import type { ExtraName, ExtraRequestOf } from '../../wire-extras.ts';
import { type CommandCall, isConfirmed, type RunCommand } from '../command-call.ts';

/** Writes down what somebody says of a state. */
export async function describe(call: CommandCall): Promise<number> {
  const description = call.command.words[1] as string;
  return plainly(call, 'Describe', { ...namedState(call), description });
}

/** Pins a state, or does so no longer. */
export function pin(operation: 'Pin' | 'Unpin'): RunCommand {
  return (call) => plainly(call, operation, namedState(call));
}

/** Asks for a way back at the next boot. */
export async function revert(call: CommandCall): Promise<number> {
  const { stateName } = namedState(call);
  const users = call.command.flags.has('users');
  const homes = users ? ', with the homes of users' : '';
  if (!(await isConfirmed(call, `Go back to ${stateName} at the next boot${homes}?`))) return 1;
  return plainly(call, 'RequestRevert', { stateName, users });
}

/** Takes that back. */
export async function cancelRevert(call: CommandCall): Promise<number> {
  return plainly(call, 'CancelRevert', {});
}

/** The state that a command names first. */
export function namedState({ command }: CommandCall): { stateName: string; userName: string } {
  return { stateName: command.words[0] as string, userName: command.values.user ?? '' };
}

async function plainly<N extends Exclude<ExtraName, 'Import'>>(
  { daemon, progress }: CommandCall,
  operation: N,
  request: ExtraRequestOf<N>,
): Promise<number> {
  // It only tells what it does.
  for await (const _ of daemon.stream(operation, request, progress));
  return 0;
}
