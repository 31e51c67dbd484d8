import { mkdir, readFile } from 'node:fs/promises';
import { FolderInUse, lockFolder, StartError } from '@croft/runtime';
import { parseCommandLine } from '../../../rules/boot/command-line.ts';
import type { StateSettings } from '../../../settings.ts';
import { mountOf, readMounts } from '../../mounts.ts';
import { programsIn } from '../../programs.ts';
import type { Storage } from '../storage.ts';
import { findAdoption } from './boot/adopt-machine.ts';
import { readFileSystems } from './filesystem.ts';
import { type Booted, layoutOf } from './layout.ts';
import { Zfs } from './zfs.ts';
import { poolOf, ZfsCommands } from './zfs-commands.ts';

/** Goes with a boot, as pools are imported by one. Not in /run/croft, which users enter to reach the socket. */
const LOCKS = '/run/croft-zfs';

/**
 * Opens the states of the machines in the pools that are imported.
 * @param folder the daemon's own
 * @throws StartError saying what is missing
 */
export async function openZfs(settings: StateSettings, folder: string): Promise<Storage> {
  const refuse = (why: string) => new StartError(`STATESVC_STORAGE=zfs: ${why}`);
  if (process.geteuid?.() !== 0)
    throw refuse('only root may work with datasets. Run the daemon as root, or use STATESVC_STORAGE=vault.');
  const zfs = new ZfsCommands(programsIn(settings.SEARCH_PATH), {
    timeoutMs: settings.ZFS_TIMEOUT * 1000,
    pools: settings.ZFS_POOLS,
  });
  let pools: readonly string[];
  try {
    pools = (await zfs.pools()).map(({ name }) => name);
  } catch (error) {
    throw refuse(
      `${(error as Error).message}. Install zfsutils-linux and load the module, or set STATESVC_SEARCH_PATH.`,
    );
  }
  const away = settings.ZFS_POOLS.find((name) => !pools.includes(name));
  if (away !== undefined)
    throw refuse(`the pool ${away} is not imported: import it, or take it out of STATESVC_ZFS_POOLS.`);
  const booted = await readBooted(settings);
  // Before anything is changed: what is there may be another daemon's.
  const lock = await lockPool(poolOf(booted.dataset || booted.snapshot), zfs);
  try {
    if (settings.ZFS_ADOPT) await adoptRunning(booted, zfs);
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw refuse((error as Error).message);
  }
  return new Zfs({ zfs, booted, homes: settings.ZFS_HOMES, folder, lock });
}

/** What `croft state adopt` does, for hosts that nobody types at: once, so that a start does not look through all snapshots. */
async function adoptRunning(booted: Booted, zfs: ZfsCommands): Promise<void> {
  const layout = layoutOf(await readFileSystems(zfs), booted);
  const current = layout.machines.find(({ isCurrent }) => isCurrent);
  if (current === undefined || current.managed) return;
  await (await findAdoption(current.id, layout, zfs)).adopt();
}

/** What is mounted at `/` is what runs; the command line may name the snapshot that it is a clone of. */
async function readBooted({ CMDLINE_FILE, BOOT_ID_FILE }: StateSettings): Promise<Booted> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '');
  const { root } = parseCommandLine(await read(CMDLINE_FILE));
  const mount = mountOf(await readMounts(), '/');
  const mounted = mount?.type === 'zfs' || mount?.type === 'fuse.zfs' ? mount.source : '';
  const named = root ?? '';
  return {
    dataset: mounted || (named.includes('@') ? '' : named),
    snapshot: named.includes('@') ? named : '',
    bootId: (await read(BOOT_ID_FILE)).trim(),
  };
}

/** A daemon with another data folder would write the same states. @throws StartError */
async function lockPool(pool: string, zfs: ZfsCommands): Promise<Disposable | undefined> {
  const guid = (await zfs.properties(pool === '' ? [] : [pool], ['guid'])).get(pool)?.get('guid')?.value;
  if (guid === undefined) return undefined;
  const folder = `${LOCKS}/${guid}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return lockFolder(folder, `The pool ${pool}, by the lock`);
  } catch (error) {
    throw error instanceof FolderInUse ? new StartError(error.message) : error;
  }
}
