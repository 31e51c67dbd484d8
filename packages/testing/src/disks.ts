import { execFile } from 'node:child_process';
import { copyFile, mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { skipWithout } from './programs.ts';

const run = promisify(execFile);

/** A small disk in memory in place of a folder. */
export async function mountSmallDisk(
  context: TestContext,
  folder: string,
  size: string,
): Promise<AsyncDisposable> {
  await orSkip(context, () => run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]));
  return { [Symbol.asyncDispose]: () => unmount(folder) };
}

/** A disk whose power can go. */
export interface JournaledDisk extends AsyncDisposable {
  /** Mounts what the disk would have if the power went now: what was written but not flushed is lost. */
  afterPowerCut(): Promise<{ folder: string } & AsyncDisposable>;
}

/** A disk of ext4 in place of a folder; what is written stays in memory for an hour unless it is flushed. */
export async function mountJournaledDisk(
  context: TestContext,
  folder: string,
  scratch: string,
): Promise<JournaledDisk> {
  const image = join(scratch, 'disk');
  await writeFile(image, '');
  await truncate(image, 64 * 1024 * 1024);
  const mount = (from: string, to: string) => run('mount', ['-o', 'loop,commit=3600', from, to]);
  await orSkip(context, async () => {
    await run('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image]);
    await mount(image, folder);
  });
  let cuts = 0;
  return {
    async afterPowerCut() {
      const copy = `${image}-${++cuts}`;
      await copyFile(image, copy);
      await mkdir(`${copy}.mounted`);
      await mount(copy, `${copy}.mounted`);
      return {
        folder: `${copy}.mounted`,
        [Symbol.asyncDispose]: () => unmount(`${copy}.mounted`),
      };
    },
    [Symbol.asyncDispose]: () => unmount(folder),
  };
}

/** Only root may mount, and not in every container. */
async function orSkip(context: TestContext, mount: () => Promise<unknown>): Promise<void> {
  try {
    await mount();
  } catch (error) {
    skipWithout(context, `root, who may mount a disk (${(error as Error).message})`);
  }
}

async function unmount(folder: string): Promise<void> {
  await run('umount', ['-l', folder]);
}
