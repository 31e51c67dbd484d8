import { chmod, mkdir } from 'node:fs/promises';
import { FolderInUse, lockFolder, StartError } from '@croft/runtime';
import type { Machine } from '../../../model/model.ts';
import { pathText } from '../../../model/path-text.ts';
import type { StateSettings } from '../../../settings.ts';
import { type Mount, mountOf, readMounts } from '../../mounts.ts';
import { programsIn, type RunProgram } from '../../programs.ts';
import { runningMachine } from '../known-machines.ts';
import type { Storage } from '../storage.ts';
import { Btrfs } from './btrfs.ts';
import { KernelCalls } from './kernel-calls.ts';
import { BOOT, RECORDS, STATES, WORK } from './layout.ts';
import { isSubvolume, Subvolumes } from './subvolumes.ts';
import { machineId, whichSystem } from './which-system.ts';

/**
 * Opens the states of the machine that runs from btrfs, or of one on a btrfs that is mounted somewhere.
 * @param folder the daemon's own: where the top level is mounted when it is mounted nowhere
 * @param warn takes lines for people
 * @throws StartError saying what is missing; UnusableLayout
 */
export async function openBtrfs(
  settings: StateSettings,
  folder: string,
  warn: (line: string) => void,
): Promise<Storage> {
  const run = programsIn(settings.SEARCH_PATH);
  const refuse = (why: string) => new StartError(`STATESVC_STORAGE=btrfs: ${why}`);
  if (process.geteuid?.() !== 0)
    throw refuse(
      'only root may work with subvolumes. Run the daemon as root, or use STATESVC_STORAGE=vault.',
    );
  const { ok, why } = await run('btrfs', ['--version']);
  if (!ok) throw refuse(`${why}. Install btrfs-progs, or name its folder in STATESVC_SEARCH_PATH.`);
  await using opened = new AsyncDisposableStack();
  const root = await openRoot(settings, folder, run, opened);
  const configured = settings.BTRFS_SYSTEM === undefined ? undefined : trimmed(settings.BTRFS_SYSTEM);
  const system = await whichSystem(root, await readMounts(), configured);
  const homes = trimmed(settings.BTRFS_HOMES);
  for (const [name, path] of [
    ['SYSTEM', system],
    ['HOMES', homes],
  ] as const)
    if (path.split('/').some((part) => ['', '.', '..', STATES].includes(part)))
      throw refuse(`STATESVC_BTRFS_${name}=${path} is not the path of a subvolume below the top level.`);
  if (!(await isSubvolume(`${root}/${system}`)))
    throw refuse(
      `STATESVC_BTRFS_SYSTEM=${system} is no subvolume of the file system at ${root}. "btrfs subvolume list ${root}" lists them.`,
    );
  const calls = new KernelCalls(settings.SEARCH_PATH);
  opened.defer(() => calls.close());
  calls.start();
  const subvolumes = new Subvolumes(root, run, calls);
  try {
    await makeLayout(subvolumes);
    opened.use(lockFolder(subvolumes.at(STATES), 'The folder of states'));
  } catch (error) {
    if (error instanceof FolderInUse) throw new StartError(error.message);
    throw refuse((error as Error).message);
  }
  const machine = await machineOf(settings, system, root);
  const resources = opened.move();
  return new Btrfs({ subvolumes, machine, system, homes, run, warn, close: () => resources.disposeAsync() });
}

async function openRoot(
  settings: StateSettings,
  folder: string,
  run: RunProgram,
  opened: AsyncDisposableStack,
): Promise<string> {
  const mounts = await readMounts();
  const given = settings.BTRFS_ROOT;
  if (given !== undefined) {
    const path = `/${trimmed(given)}`;
    const shown = mountOf(mounts, path);
    if (shown?.path !== path || shown.type !== 'btrfs' || shown.root !== '/')
      throw new StartError(
        `STATESVC_BTRFS_ROOT=${given}: the top level of a btrfs is not mounted there. Mount it with "mount -o subvolid=5 <device> ${path}".`,
      );
    return path;
  }
  const system = mountOf(mounts, '/');
  if (system?.type !== 'btrfs')
    throw new StartError(
      'STATESVC_STORAGE=btrfs: the root of this machine is not on btrfs. Name the place where the top level of one is mounted in STATESVC_BTRFS_ROOT.',
    );
  const own = `${folder}/btrfs`;
  const shown = mounts.find(
    ({ device, root, path }) => device === system.device && root === '/' && path !== own,
  );
  if (shown !== undefined) return shown.path;
  await mountTopLevel(system, own, mounts, run);
  opened.defer(async () => void (await run('umount', ['--', own])));
  return own;
}

/** Only root reaches it there: the daemon's folder is private. A daemon that was killed left it mounted. */
async function mountTopLevel(
  { source, device }: Mount,
  own: string,
  mounts: readonly Mount[],
  run: RunProgram,
): Promise<void> {
  await mkdir(own, { recursive: true, mode: 0o700 });
  if (mounts.some((mount) => mount.path === own && mount.device === device && mount.root === '/')) return;
  const { ok, why } = await run('mount', ['-t', 'btrfs', '-o', 'subvolid=5', '--', source, own]);
  if (!ok)
    throw new StartError(`STATESVC_STORAGE=btrfs: the top level could not be mounted at ${own}: ${why}.`);
}

async function makeLayout(subvolumes: Subvolumes): Promise<void> {
  const states = subvolumes.at(STATES);
  // Others may not look into saved homes, whatever modes they had.
  if (!(await subvolumes.isThere(STATES))) await subvolumes.create(STATES);
  for (const path of [RECORDS, WORK, BOOT])
    await mkdir(subvolumes.at(path), { recursive: true, mode: 0o700 });
  await chmod(states, 0o700);
}

async function machineOf(settings: StateSettings, system: string, root: string): Promise<Machine> {
  const path = await seenAt(system, root);
  const datasets = [{ name: 'system', role: 'system', path, holdsMounts: true }] as const;
  return runningMachine(settings.CMDLINE_FILE, { id: machineId(system), managed: true, datasets });
}

/** Where people see the system: where it runs, or is mounted, or below the top level. */
async function seenAt(system: string, root: string): Promise<string> {
  const mounts = await readMounts();
  const ofSame = mounts.filter(({ device }) => device === mountOf(mounts, root)?.device);
  const shown =
    ofSame.find(({ path }) => path === '/') ?? ofSame.find((mount) => mount.root === `/${system}`);
  return pathText(Buffer.from(shown?.path ?? `${root}/${system}`).toString('latin1'));
}

function trimmed(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
