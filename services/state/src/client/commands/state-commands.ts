import { findState } from '../../rules/states/find-state.ts';
import { type CommandCall, dumpText, isConfirmed, printJson } from '../command-call.ts';
import { untilInterrupted } from '../interruption.ts';
import { Misuse } from '../parse-command.ts';
import { readDump } from './dumped-model.ts';

const REMOVAL_GOES_ON =
  'what the daemon has begun to remove it removes to the end: `croft state show` tells what is left';

/** Saves the machine, or one user's home. */
export async function save(call: CommandCall): Promise<number> {
  const { command, daemon, print, progress } = call;
  const stateName = command.words[0] ?? '';
  const { user } = command.values;
  const forSystem = (['boot-menu', 'auto'] as const).find((flag) => command.flags.has(flag));
  if (user !== undefined && forSystem !== undefined)
    throw new Misuse(`--${forSystem} is for states of the system, not of a user`);
  const [updateBootMenu, autosave] = [command.flags.has('boot-menu'), command.flags.has('auto')];
  const ask = () =>
    user === undefined
      ? daemon.call('SaveSystemState', { stateName, updateBootMenu, autosave }, progress)
      : daemon.call('SaveUserState', { userName: user, stateName }, progress);
  const results = await untilInterrupted(
    ask,
    'the daemon takes the save back, unless it was done by then: `croft state show` tells',
  );
  for (const saved of results) {
    if (command.flags.has('json')) printJson(call, { stateName: saved.stateName });
    else if (saved.stateName !== '') print(saved.stateName);
  }
  return 0;
}

/** Removes a state, after it was shown what that means. */
export async function remove(call: CommandCall): Promise<number> {
  const { command, daemon, print, progress, stdin } = call;
  const { user } = command.values;
  const [typed = ''] = command.words;
  const isDry = command.flags.has('dry-run');
  const isAsked = !isDry && !command.flags.has('yes') && stdin.isTTY === true;
  // What is confirmed is removed, whatever the name means by then.
  const stateName = isAsked
    ? findState(readDump(await dumpText(call)).model, { name: typed, user }).id
    : typed;
  const ask = (dryrun: boolean, onLine: (line: string) => void) => {
    const request = { stateName, force: command.flags.has('force'), dryrun };
    return user === undefined
      ? daemon.call('RemoveSystemState', request, onLine)
      : daemon.call('RemoveUserState', { ...request, userName: user }, onLine);
  };
  if (isDry) {
    await ask(true, print);
    return 0;
  }
  if (isAsked) await ask(true, progress);
  if (!(await isConfirmed(call, 'Remove it?'))) return 1;
  await untilInterrupted(() => ask(false, progress), REMOVAL_GOES_ON);
  return 0;
}

/** Removes what the policy does not keep. */
export async function gc(call: CommandCall): Promise<number> {
  const all = call.command.flags.has('all');
  if (
    all &&
    !(await isConfirmed(call, 'Remove states that somebody named, too, where the policy does not keep them?'))
  )
    return 1;
  await untilInterrupted(() => call.daemon.call('GC', { all }, call.progress), REMOVAL_GOES_ON);
  return 0;
}
