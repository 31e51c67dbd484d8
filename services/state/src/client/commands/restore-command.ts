import { access, constants } from 'node:fs/promises';
import type { Member } from '../../model/model.ts';
import { close, errorCode } from '../../outside/storage/vault/files.ts';
import { materialise } from '../../outside/storage/vault/trees/materialise.ts';
import { openTarget } from '../../outside/storage/vault/trees/open-target.ts';
import type { DumpedStorage } from '../../rules/machines/dump.ts';
import { counted, sizeText } from '../../rules/machines/sizes.ts';
import { findState } from '../../rules/states/find-state.ts';
import { type CommandCall, dumpText } from '../command-call.ts';
import { FileTrouble, withFiles } from '../file-trouble.ts';
import { interruptible } from '../interruption.ts';
import { Misuse } from '../parse-command.ts';
import { readDump } from './dumped-model.ts';

/** What is put where, and who is told of it. */
interface Restoring {
  readonly call: CommandCall;
  readonly members: readonly Member[];
  readonly vault: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly onLeft: (why: string) => void;
}

/** Puts a state into an empty or new folder, as whoever runs this. */
export async function restore(call: CommandCall): Promise<number> {
  const { command, progress } = call;
  if (command.values.address !== undefined)
    throw new Misuse('restore reads states where they lie: run it on that machine');
  const [wanted, folder] = command.words as [string, string];
  const { dump, model } = readDump(await dumpText(call));
  const { members } = findState(model, { name: wanted, user: command.values.user });
  const { driver, location } = dump.storage;
  if (driver !== 'vault')
    throw new FileTrouble(
      `states on ${driver} are no files of the vault: \`croft state export\` writes one to a file, or as root copy what you need out of ${members.map((member) => placeOf(member, dump.storage)).join(' and ')}`,
    );
  await checkOpen(location);
  let isLeft = false;
  const onLeft = (why: string) => {
    isLeft = true;
    progress(`warning: not all that was restored to ${folder} could be removed again: ${why}`);
  };
  const problems = await interruptible(
    async (signal) => {
      const taking = () =>
        progress('removing what was restored so far; interrupted once more, this ends and leaves it');
      signal.addEventListener('abort', taking, { once: true });
      return await restoreMembers({ call, members, vault: location, folder, signal, onLeft });
    },
    () =>
      isLeft
        ? `a part of ${wanted} is in ${folder}; delete it before you restore into that folder again`
        : `nothing of ${wanted} was restored, and ${folder} is as it was`,
  );
  return problems === 0 ? 0 : 1;
}

/** Where people find what a member holds, when it is not in the vault. */
function placeOf({ snapshot, path }: Member, { driver, location }: DumpedStorage): string {
  // A snapshot of ZFS has a name and no place; its dataset shows it where that is mounted.
  return driver === 'zfs'
    ? `${snapshot} (${path === '/' ? '' : path}/.zfs/snapshot/${snapshot.replace(/^[^@]*@/, '')}, or a clone)`
    : `${location}/${snapshot}`;
}

/** Every user may know of states, and hardly any may read what they hold. @throws FileTrouble */
async function checkOpen(vault: string): Promise<void> {
  await access(`${vault}/objects`, constants.R_OK | constants.X_OK).catch((error) => {
    if (errorCode(error) === 'EACCES')
      throw new FileTrouble(
        `${vault}, where the states are, is not open to this user: run this as root, or as the user that the daemon runs as`,
      );
  });
}

/** @returns how many things are not as they were */
async function restoreMembers(restoring: Restoring): Promise<number> {
  const { members, folder, onLeft } = restoring;
  const [first, ...others] = members;
  if (first !== undefined && others.length === 0)
    return await restoreMember(restoring, first, folder, folder);
  // Beside each other: one below another could be led out of the folder by a link in that.
  const around = await openTarget(folder);
  try {
    let problems = 0;
    for (const member of members) {
      const name = member.dataset.replaceAll('/', '%2F');
      // Its name may lead elsewhere by now.
      const at = Buffer.from(`${around.root}/${name}`, 'latin1').toString();
      problems += await restoreMember(restoring, member, at, `${folder}/${name}`);
    }
    await around.giveBack();
    return problems;
  } catch (error) {
    const left = await around.undo();
    if (left !== undefined) onLeft(left);
    throw error;
  } finally {
    await close(around.fd);
  }
}

async function restoreMember(
  { call, vault, signal, onLeft }: Restoring,
  member: Member,
  at: string,
  target: string,
): Promise<number> {
  const { progress, meter } = call;
  const done = { entries: 0, bytes: 0 };
  const onEntry = ({ size }: { readonly size?: number }) => {
    done.entries++;
    done.bytes += size ?? 0;
    meter.show(() => howFar(member, done));
  };
  const restored = await withFiles(`${member.dataset} could not be restored to ${target}`, () =>
    materialise(vault, member.snapshot, at, { onEntry, onLeft, signal }),
  );
  for (const problem of restored.problems) progress(`warning: ${problem}`);
  progress(`restored ${member.dataset} to ${target}: ${counted(restored.entries, 'entry', 'entries')}`);
  return restored.problems.length;
}

function howFar({ path, ...all }: Member, done: Pick<Member, 'entries' | 'bytes'>): string {
  return `${path}: ${done.entries} of ${all.entries} entries, ${sizeText(done.bytes)} of ${sizeText(all.bytes)}`;
}
