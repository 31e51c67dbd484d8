import { execFile } from 'node:child_process';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { menuRefused } from '../../failures.ts';
import type { MenuEntry } from '../../rules/boot/boot-menu.ts';
import { grubText } from '../../rules/boot/grub-text.ts';
import { syncFolder } from '../sync-folder.ts';
import type { BootLoader } from './boot-loader.ts';
import { fileSystemOf } from './file-system.ts';

const CHECK_MS = 10_000;

/** GRUB, whose `grub.cfg` sources our file by the script of `packaging/grub.d`. */
export class Grub implements BootLoader {
  readonly name = 'grub';
  readonly #folder: string;
  readonly #bootFolder: string;

  /** @param folder where `grub.cfg` lies @param bootFolder where kernels lie */
  constructor(folder: string, bootFolder: string) {
    this.#folder = folder;
    this.#bootFolder = bootFolder;
  }

  async hasMenu(): Promise<boolean> {
    return isFile(`${this.#folder}/croft.cfg`);
  }

  async write(entries: readonly MenuEntry[]): Promise<boolean> {
    const { mount, root, uuid } = await fileSystemOf(this.#bootFolder);
    // GRUB knows nothing of what is mounted where: to it a subvolume is a folder.
    const text = grubText(entries, { uuid, pathOf: (path) => join(root, relative(mount, path)) });
    const file = `${this.#folder}/croft.cfg`;
    const old = await readFile(file, 'utf8').catch(() => undefined);
    if (old === text || (old === undefined && entries.length === 0)) return false;
    const temporary = `${file}.new`;
    try {
      await writeFile(temporary, text, { flush: true });
      await check(temporary);
      // Somebody at a broken menu may want the one before it.
      if (old !== undefined) await writeFile(`${file}.old`, old);
      await rename(temporary, file);
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw menuRefused(file, (error as Error).message);
    }
    return true;
  }
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
