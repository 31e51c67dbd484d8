import { rename, writeFile } from 'node:fs/promises';
import { diskFailure } from '../rules/machines/disk-failure.ts';
import { syncFolder } from './sync-folder.ts';

/** Puts a small file in place so that after any crash it is there whole or not at all. */
export async function writeDurably(path: string, folder: string, content: string | Buffer): Promise<void> {
  const temporary = `${path}.new`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flush: true });
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (error) {
    throw diskFailure(error, `the disk of ${folder}`);
  }
}
