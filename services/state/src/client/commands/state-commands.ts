import { findState } from '../../rules/states/find-state.ts';
import { type CommandCall, dumpText, isConfirmed, printJson } from '../command-call.ts';
import { Misuse } from '../parse-command.ts';
import { readDump } from './dumped-model.ts';

/** Saves the machine, or one user's home. */
export async function save(call: CommandCall): Promise<number> {
  const { command, daemon, print, progress } = call;
  const stateName = command.words[0] ?? '';
  const { user } = command.values;
  const forSystem = (['boot-menu', 'auto'] as const).find((flag) => command.flags.has(flag));
  if (user !== undefined && forSystem !== undefined)
    throw new Misuse(`--${forSystem} is for states of the system, not of a user`);
  const results =
    user === undefined
      ? await daemon.call(
          'SaveSystemState',
          { stateName, updateBootMenu: command.flags.has('boot-menu'), autosave: command.flags.has('auto') },
          progress,
        )
      : await daemon.call('SaveUserState', { userName: user, stateName }, progress);
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
  await ask(false, progress);
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
  await call.daemon.call('GC', { all }, call.progress);
  return 0;
}
