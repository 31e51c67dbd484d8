import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ZfsPool } from './zfs-image.ts';

const ZSYS = 'com.ubuntu.zsys:';

/** A pool as ZSys kept it: its marks on the root, a home, and snapshots of both; nothing of ours. */
export interface ZsysMachine {
  /** The dataset of ada's home. */
  readonly home: string;
  readonly homeFolder: string;
  /** Writes into root, child and home. */
  readonly write: (text: string) => void;
  /** Saves all as ZSys does, under a name. */
  readonly save: (name: string) => void;
  /** Saves ada's home only. */
  readonly saveHome: (name: string) => void;
}

/** Snapshots a dataset as ZSys does. @param facts what it notes of it, besides where it lies */
export function saveAsZsys(
  zfs: ZfsPool['zfs'],
  dataset: string,
  name: string,
  facts: Readonly<Record<'mountpoint' | 'canmount', string>> & Readonly<Record<string, string>>,
): void {
  zfs('snapshot', `${dataset}@${name}`);
  for (const [key, value] of Object.entries(facts))
    zfs('set', `${ZSYS}${key}=${value}`, `${dataset}@${name}`);
}

/** Makes the machine of a pool one of ZSys. */
export function makeZsysMachine({ zfs, pool, root, systemPath, homesFolder }: ZfsPool): ZsysMachine {
  const home = `${pool}/USERDATA/ada_x1y2z3`;
  const homeFolder = join(homesFolder, 'ada');
  const mark = (name: string, value: string, ...on: readonly string[]) =>
    zfs('set', `${ZSYS}${name}=${value}`, ...on);
  zfs('inherit', 'croft:managed', root);
  mark('bootfs', 'yes', root);
  mark('last-booted-kernel', 'vmlinuz-6.1', root);
  zfs('create', `${root}/var`);
  zfs('create', `${root}/layer`);
  zfs('create', '-o', 'mountpoint=none', `${pool}/USERDATA`);
  zfs('create', '-o', 'mountpoint=/home/ada', home);
  mark('bootfs-datasets', root, home);
  mkdirSync(join(homeFolder, 'work'), { recursive: true });
  const saveHome = (name: string) =>
    saveAsZsys(zfs, home, name, {
      mountpoint: '/home/ada:local',
      canmount: 'on:default',
      'bootfs-datasets': `${root}:local`,
    });
  return {
    home,
    homeFolder,
    write(text) {
      for (const folder of [systemPath, join(systemPath, 'var'), homeFolder])
        writeFileSync(join(folder, 'file'), text);
    },
    save(name) {
      saveAsZsys(zfs, root, name, {
        mountpoint: '/system:local',
        canmount: 'noauto:local',
        bootfs: 'yes:local',
        'last-booted-kernel': 'vmlinuz-6.0:local',
      });
      saveAsZsys(zfs, `${root}/var`, name, { mountpoint: '/system/var:inherited', canmount: 'on:default' });
      saveHome(name);
    },
    saveHome,
  };
}
