import type { StateSettings } from '../../settings.ts';
import { mountOf, readMounts } from '../mounts.ts';
import { programsIn } from '../programs.ts';
import { openBtrfs } from './btrfs/open-btrfs.ts';
import { UnusableLayout } from './btrfs/which-system.ts';
import type { Storage } from './storage.ts';
import { openConfiguredVault } from './vault/open-vault.ts';
import { openZfs } from './zfs/open-zfs.ts';

/** Where states can be kept. */
type Driver = Storage['driver'];

/** How each is opened. @throws StartError when it is not there or makes no sense */
type Open = (settings: StateSettings, folder: string, warn: (line: string) => void) => Promise<Storage>;
const OPEN: Readonly<Record<Driver, Open>> = {
  vault: openConfiguredVault,
  btrfs: openBtrfs,
  zfs: openZfs,
};

/** What a driver needs to be chosen for a machine whose root is on its file system. */
const PROGRAMS: Readonly<Partial<Record<string, readonly [Driver, string, ...string[]]>>> = {
  btrfs: ['btrfs', 'btrfs', '--version'],
  zfs: ['zfs', 'zpool', 'list'],
  'fuse.zfs': ['zfs', 'zpool', 'list'],
};

/**
 * Opens the storage that the settings choose.
 * @param folder the daemon's own
 * @param warn takes lines for people
 * @throws StartError when it is not there or makes no sense
 */
export async function openStorage(
  settings: StateSettings,
  folder: string,
  warn: (line: string) => void,
): Promise<Storage> {
  if (settings.STORAGE !== 'auto') return OPEN[settings.STORAGE](settings, folder, warn);
  try {
    return await OPEN[await driverOfRoot(settings)](settings, folder, warn);
  } catch (error) {
    if (!(error instanceof UnusableLayout)) throw error;
    warn(`states are kept in the vault: ${error.message}`);
    return OPEN.vault(settings, folder, warn);
  }
}

/** What the machine is booted from, where this process may use that; else the vault, which works everywhere. */
async function driverOfRoot(settings: StateSettings): Promise<Driver> {
  const type = mountOf(await readMounts(), '/')?.type ?? '';
  const [driver, program, ...args] = PROGRAMS[type] ?? [];
  if (driver === undefined || program === undefined || process.geteuid?.() !== 0) return 'vault';
  return (await programsIn(settings.SEARCH_PATH)(program, args)).ok ? driver : 'vault';
}
