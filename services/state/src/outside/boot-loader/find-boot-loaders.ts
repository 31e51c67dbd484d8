import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kernel } from '../../rules/boot/boot-menu.ts';
import type { StateSettings } from '../../settings.ts';
import { programsIn } from '../programs.ts';
import type { BootLoader } from './boot-loader.ts';
import { Grub, hasGrub } from './grub.ts';
import { findEntriesRoot, LoaderEntries } from './loader-entries.ts';

/** Where the partition with entries is mounted, by the Boot Loader Specification. */
const ENTRIES_ROOTS = ['/efi', '/boot/efi', '/boot'];

type BootSettings = Pick<StateSettings, 'BOOT_LOADER' | 'BOOT_FOLDER' | 'ENTRIES_FOLDER' | 'SEARCH_PATH'>;

/** The boot loaders whose menus are kept: those that the settings name, with `auto` those that are there. */
export async function findBootLoaders(settings: BootSettings): Promise<readonly BootLoader[]> {
  const { BOOT_LOADER: wanted, BOOT_FOLDER: folder, ENTRIES_FOLDER: given } = settings;
  const loaders: BootLoader[] = [];
  if (wanted === 'none') return loaders;
  const run = programsIn(settings.SEARCH_PATH);
  const grub = join(folder, 'grub');
  if (wanted === 'grub' || (wanted === 'auto' && (await hasGrub(grub))))
    loaders.push(new Grub(grub, folder, run));
  const root = given ?? (await findEntriesRoot(ENTRIES_ROOTS));
  if (root !== undefined && (wanted === 'entries' || wanted === 'auto'))
    loaders.push(new LoaderEntries(root, run));
  return loaders;
}

/** The kernels of a folder, each with its initial file system where there is one. */
export async function listKernels(folder: string): Promise<Kernel[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names
    .filter((name) => /^vmlinu[xz]-./.test(name) && !/\.(old|bak|new)$/.test(name))
    .map((name) => {
      const version = name.slice(name.indexOf('-') + 1);
      const initrd = initrdNames(version).find((file) => names.includes(file));
      return {
        name,
        linux: join(folder, name),
        initrd: initrd === undefined ? undefined : join(folder, initrd),
      };
    });
}

/** As Debian, Fedora and others call it. */
const initrdNames = (version: string) => [
  `initrd.img-${version}`,
  `initramfs-${version}.img`,
  `initrd-${version}`,
];

/** What people call this system. */
export async function systemName(file = '/etc/os-release'): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const name = /^PRETTY_NAME=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))$/m
    .exec(text)
    ?.slice(1)
    .find((part) => part);
  return name?.slice(0, 80) ?? 'Linux';
}
