import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Dump, temporaryFolder } from '../daemon.ts';
import type { SteppingStorage } from '../stepping-hosts.ts';
import { checkVault } from '../vault-check.ts';
import { openBtrfs, run } from './btrfs-image.ts';
import { bootPartition } from './grub-boot.ts';
import { openPool } from './zfs-image.ts';
import { saveAsZsys } from './zsys-machine.ts';

const statesOf = ({ machines }: Dump) => machines.flatMap(({ states }) => states);

const snapshotsIn = (dump: Dump) =>
  statesOf(dump)
    .flatMap(({ members }) => members.map(({ snapshot }) => snapshot))
    .sort();

/** The vault in a folder. */
export function steppingVault(): SteppingStorage {
  // Its writes are the same in memory, and several times as fast.
  const base = temporaryFolder(tmpdir());
  const [tree, homes] = [join(base, 'tree'), join(base, 'homes')];
  for (const folder of [tree, homes]) mkdirSync(folder);
  const settings = { STATESVC_STORAGE: 'vault', STATESVC_VAULT_SYSTEM: tree };
  return { driver: 'vault', base, tree, homes, settings, check: (dump, folder) => checkVault(folder, dump) };
}

/** btrfs on an image. @param runs the daemon sees it as the machine's root */
export async function steppingBtrfs(runs: boolean): Promise<SteppingStorage> {
  const storage = await openBtrfs({ megabytes: 256 });
  onTestFinished(() => storage.close());
  const { base, root, device, systemPath, homesFolder, settings } = storage;
  // Nothing of it runs, so that what was replaced goes at once.
  run('umount', systemPath);
  const names = (folder: string) => readdirSync(join(root, '@states', folder));
  return {
    driver: 'btrfs',
    base,
    tree: join(root, '@'),
    homes: homesFolder,
    settings,
    ...(runs ? { device } : {}),
    check(dump) {
      const listed = run('btrfs', 'subvolume', 'list', '-o', join(root, '@states')).split('\n');
      const copies = names('boot');
      const found = listed.flatMap((line) => / path (.+)$/.exec(line)?.[1] ?? []);
      expect(found.filter((path) => !path.startsWith('@states/boot/')).sort()).toEqual(snapshotsIn(dump));
      // On their way, and of states that are gone.
      expect(names('work')).toEqual([]);
      expect(copies.filter((copy) => !statesOf(dump).some(({ id }) => id === copy))).toEqual([]);
      // What was to take the place of a record goes with it, or when the next one is written.
      const records = names('records');
      const known = statesOf(dump).map(({ id, system }) => `${system ?? id}.json`);
      expect(records.filter((name) => !known.includes(name.replace(/\.new$/, '')))).toEqual([]);
    },
  };
}

/**
 * What is done to files while an import fills its datasets. After each the same is there, a dataset that the next start destroys as
 * a whole, and the same code does it on btrfs, where each of them is tried.
 */
const FILES_OF_IMPORTS =
  /^(appendFile|copyFile|fchmod|fchown|futimes|link|open|rename|rm|write) state\/(imports\/ID\/(N|archive)|its files)/;

/** ZFS on a pool in a file. */
export async function steppingZfs(): Promise<SteppingStorage> {
  const storage = await openPool();
  onTestFinished(() => storage.close());
  const { base, pool, root, zfs, systemPath, homesFolder, settings } = storage;
  const boot = bootPartition(join(base, 'boot'));
  // As GRUB keeps it; each process less is felt, as this is looked at some thousand times.
  const nextEntry = () =>
    /^next_entry=(.*)$/m.exec(readFileSync(join(boot, 'grub/grubenv'), 'latin1'))?.[1] ?? '';
  const names = (types: string) =>
    zfs('list', '-H', '-r', '-t', types, '-o', 'name', pool)
      .split('\n')
      .filter((name) => name !== '');
  return {
    driver: 'zfs',
    base,
    tree: systemPath,
    homes: homesFolder,
    settings,
    beside: FILES_OF_IMPORTS,
    rootWord: (member) => storage.rootWord?.(member) ?? '',
    heads: () =>
      zfs('list', '-H', '-r', '-t', 'filesystem', '-o', 'name,croft:boot', `${pool}/ROOT`)
        .split('\n')
        .filter((line) => line.includes('debian')),
    nextEntry,
    saveAsZsys(name) {
      const facts = { mountpoint: '/system:local', canmount: 'noauto:local' };
      saveAsZsys(zfs, root, name, facts);
      for (const home of names('filesystem').filter((each) => each.startsWith(`${pool}/USERDATA/`)))
        saveAsZsys(zfs, home, name, { ...facts, 'bootfs-datasets': `${root}:local` });
    },
    check(dump, folder) {
      // The boot loader and the daemon want the same.
      expect(nextEntry() !== '').toBe(dump.machines.some(({ nextState }) => nextState !== null));
      const ours = snapshotsIn(dump);
      const all = names('filesystem,snapshot');
      const filesystems = all.filter((name) => !name.includes('@'));
      // Those of ZSys are there before they are adopted.
      const snapshots = all.filter(
        (name) => name.includes('@') && (!name.includes('@zsys') || ours.includes(name)),
      );
      expect(snapshots.sort()).toEqual(ours);
      // Datasets of imports that hold no snapshot, where they were mounted, and what states were looked into with.
      const used = snapshots.map((name) => name.split('@', 1)[0] ?? '');
      const idle = filesystems.filter(
        (name) =>
          name.includes('/croft_view') ||
          (name.includes('/croft_imports') && !used.some((one) => one.startsWith(name))),
      );
      expect(idle).toEqual([]);
      for (const mounts of ['imports', 'views'].map((name) => join(folder, name)))
        expect(existsSync(mounts) ? readdirSync(mounts) : []).toEqual([]);
    },
  };
}
