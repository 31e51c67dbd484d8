import type { Member } from '../../model/model.ts';
import { close } from '../../outside/storage/vault/files.ts';
import { materialise } from '../../outside/storage/vault/trees/materialise.ts';
import { openTarget } from '../../outside/storage/vault/trees/open-target.ts';
import { sizeText } from '../../rules/machines/sizes.ts';
import { findState } from '../../rules/states/find-state.ts';
import { type CommandCall, dumpText, isConfirmed, printJson } from '../command-call.ts';
import { withFiles } from '../file-trouble.ts';
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

/** Puts a state into an empty or new folder, as whoever runs this. */
export async function restore(call: CommandCall): Promise<number> {
  const { command, progress, meter } = call;
  if (command.values.address !== undefined)
    throw new Misuse('restore reads states where they lie: run it on that machine');
  const [wanted, folder] = command.words as [string, string];
  const { dump, model } = readDump(await dumpText(call));
  const { members } = findState(model, { name: wanted, user: command.values.user });
  const { driver, location } = dump.storage;
  if (driver !== 'vault')
    throw new Misuse(
      `states on ${driver} are no files of the vault: as root copy what you need out of ${members.map(({ snapshot }) => `${location}/${snapshot}`).join(' and ')}`,
    );
  // Beside each other: one below another could be led out of the folder by a link in that.
  const around = members.length > 1 ? await openTarget(folder) : undefined;
  let problems = 0;
  try {
    for (const member of members) {
      const name = member.dataset.replaceAll('/', '%2F');
      const target = around === undefined ? folder : `${folder}/${name}`;
      // Its name may lead elsewhere by now.
      const at = around === undefined ? folder : Buffer.from(`${around.root}/${name}`, 'latin1').toString();
      const done = { entries: 0, bytes: 0 };
      const restored = await withFiles(`${member.dataset} could not be restored to ${target}`, () =>
        materialise(location, member.snapshot, at, ({ size }) => {
          done.entries++;
          done.bytes += size ?? 0;
          meter.show(() => howFar(member, done));
        }),
      );
      for (const problem of restored.problems) progress(`warning: ${problem}`);
      problems += restored.problems.length;
      progress(`restored ${member.dataset} to ${target}: ${restored.entries} entries`);
    }
  } finally {
    await around?.giveBack();
    if (around !== undefined) await close(around.fd);
  }
  return problems === 0 ? 0 : 1;
}

function howFar({ path, ...all }: Member, done: Pick<Member, 'entries' | 'bytes'>): string {
  return `${path}: ${done.entries} of ${all.entries} entries, ${sizeText(done.bytes)} of ${sizeText(all.bytes)}`;
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
