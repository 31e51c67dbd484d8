import { rename, writeFile } from 'node:fs/promises';
import { diskFailure } from '../rules/machines/disk-failure.ts';
import { syncFolder } from './sync-folder.ts';

/** Puts a small file in place so that when this returns it survives any crash. */
export async function writeDurably(path: string, folder: string, content: string | Buffer): Promise<void> {
  await writeWhole(path, folder, content);
  await syncNames(folder);
}

/** The same, but a power cut may take it until {@link syncNames}: after any crash it is there whole or not at all. */
export async function writeWhole(path: string, folder: string, content: string | Buffer): Promise<void> {
  const temporary = `${path}.new`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    throw diskFailure(error, `the disk of ${folder}`);
  }
}

/** From here on no power cut takes what was put into a folder, or brings back what was removed from it. */
export async function syncNames(folder: string): Promise<void> {
  await syncFolder(folder).catch((error) => {
    throw diskFailure(error, `the disk of ${folder}`);
  });
}
