import { execFile } from 'node:child_process';
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { menuRefused } from '../../failures.ts';
import type { MenuEntry } from '../../rules/boot/boot-menu.ts';
import { type GrubPlaces, grubText, SUBMENU } from '../../rules/boot/grub-text.ts';
import type { RunProgram } from '../programs.ts';
import { syncFolder } from '../sync-folder.ts';
import type { BootLoader, Written } from './boot-loader.ts';
import { type FileSystem, fileSystemOf } from './file-system.ts';
import { ifMissing } from './if-missing.ts';

const CHECK_MS = 10_000;
/** File systems in which GRUB overwrites its environment block; those that are written elsewhere each time are not among them. */
const WRITABLE = ['ext2', 'ext3', 'ext4', 'vfat', 'xfs'];
/** As the kernel's list of mounts calls it. */
const ZFS = ['zfs', 'fuse.zfs'];
const OURS = `${SUBMENU}>`;

/** GRUB, whose `grub.cfg` sources our file by the script of `packaging/grub.d`. */
export class Grub implements BootLoader {
  readonly name = 'grub';
  readonly #folder: string;
  readonly #bootFolder: string;
  readonly #run: RunProgram;

  /** @param folder where `grub.cfg` lies @param bootFolder where kernels lie */
  constructor(folder: string, bootFolder: string, run: RunProgram) {
    this.#folder = folder;
    this.#bootFolder = bootFolder;
    this.#run = run;
  }

  async hasMenu(): Promise<boolean> {
    return isFile(`${this.#folder}/croft.cfg`);
  }

  async write(entries: readonly MenuEntry[]): Promise<Written> {
    const text = grubText(entries, placesOn(await fileSystemOf(this.#bootFolder)));
    const file = `${this.#folder}/croft.cfg`;
    const old = await readFile(file, 'utf8').catch(() => undefined);
    const changed = old !== text && (old !== undefined || entries.length > 0);
    if (!changed) return { changed, entries, lacking: undefined };
    const temporary = `${file}.new`;
    try {
      await writeFile(temporary, text, { flush: true });
      // What holds no entries has no commands, which the program calls an error.
      if (entries.length > 0) await check(temporary);
      // Somebody at a broken menu may want the one before it.
      if (old !== undefined) await writeFile(`${file}.old`, old);
      await rename(temporary, file);
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw menuRefused(file, (error as Error).message);
    }
    return { changed, entries, lacking: undefined };
  }

  /** GRUB must strike the entry out before it starts it, or each boot would go back again. */
  async whyNotOnce(): Promise<string | undefined> {
    const menu = await readFile(`${this.#folder}/grub.cfg`, 'utf8').catch(() => '');
    const missing = ['next_entry', 'croft.cfg'].find((word) => !menu.includes(word));
    if (missing !== undefined) return `${this.#folder}/grub.cfg has no ${missing}`;
    if (/^\s*set superusers=/m.test(menu)) return 'GRUB asks for a password';
    const { type, source } = await fileSystemOf(this.#folder);
    const isWritable = WRITABLE.includes(type) && (await isPlainDevice(source));
    return isWritable ? undefined : `GRUB cannot write to ${this.#folder} (${type} on ${source})`;
  }

  async bootOnce(entry: string | undefined): Promise<void> {
    const file = `${this.#folder}/grubenv`;
    const before = await nextEntry(file);
    if (entry === undefined && !before?.startsWith(OURS)) return;
    const wanted = entry === undefined ? '' : `${OURS}${entry}`;
    if (before === wanted) return;
    const change = entry === undefined ? ['unset', 'next_entry'] : ['set', `next_entry=${wanted}`];
    const ran = await this.#run('grub-editenv', [file, ...change]);
    if ((await nextEntry(file)) !== wanted) throw new Error(`${file} was not written: ${ran.why}`);
  }

  async asked(): Promise<string | undefined> {
    const next = await nextEntry(`${this.#folder}/grubenv`);
    return next?.startsWith(OURS) === false ? '' : next?.slice(OURS.length);
  }
}

/** GRUB knows nothing of what is mounted where: to it a subvolume is a folder, and a pool one file system with all datasets. */
function placesOn({ mount, root, uuid, type, source }: FileSystem): GrubPlaces {
  const pathOf = (path: string) => join(root, relative(mount, path));
  if (!ZFS.includes(type))
    return { foundBy: uuid === undefined ? undefined : { kind: 'fs-uuid', text: uuid }, pathOf };
  // `/<dataset>@<snapshot>/<path>`, and nothing between for what is there now.
  const [pool = '', ...dataset] = source.split('/');
  return {
    foundBy: { kind: 'label', text: pool },
    pathOf: (path) => `/${dataset.join('/')}@${pathOf(path)}`,
  };
}

/** What GRUB is asked to boot next, '' when that is what it always boots; undefined when its environment is not there. */
async function nextEntry(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(ifMissing);
  return text === undefined ? undefined : (/^next_entry=(.+)$/m.exec(text)?.[1] ?? '');
}

/**
 * Whether GRUB finds blocks where the host does: not on what the host puts together from other devices.
 * @param source device that was mounted
 */
export async function isPlainDevice(source: string): Promise<boolean> {
  if (source.startsWith('/dev/mapper/')) return false;
  const device = await realpath(source).catch(() => source);
  return !/^(dm-|md|bcache|zd)\d/.test(basename(device));
}

/** Where grub-common is not installed our own quoting has to do. */
async function check(file: string): Promise<void> {
  try {
    await promisify(execFile)('grub-script-check', [file], { timeout: CHECK_MS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new Error(
      `grub-script-check does not accept ${basename(file)}: ${(error as { stderr?: string }).stderr || (error as Error).message}`,
    );
  }
}

/** Whether GRUB is what boots here. */
export async function hasGrub(folder: string): Promise<boolean> {
  return isFile(`${folder}/grub.cfg`);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
