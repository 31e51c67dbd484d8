import { readdir, rmdir, unlink } from 'node:fs/promises';
import { pathText } from '../../../model/path-text.ts';
import { bytesOf, close, fstat, lstat, open, READ_FOLDER } from './files.ts';

/**
 * Deletes what is in a folder, not the folder. Links are deleted and never followed; other file systems are left alone: each
 * folder is opened without following links, and its entries are looked up through the open descriptor, so that swapping a
 * folder for a link changes nothing.
 * @param root as latin1 bytes
 * @returns what is left, one line each
 */
export async function emptyFolder(root: string): Promise<string[]> {
  const left: string[] = [];
  const fd = await open(bytesOf(root), READ_FOLDER);
  try {
    await emptyOpen(fd, pathText(root), (await fstat(fd)).dev, left);
  } finally {
    await close(fd);
  }
  return left;
}

async function emptyOpen(fd: number, text: string, device: bigint, left: string[]): Promise<void> {
  const here = `/proc/self/fd/${fd}`;
  for (const name of await readdir(here, { encoding: 'latin1' })) {
    const [at, shown] = [bytesOf(`${here}/${name}`), `${text}/${pathText(name)}`];
    try {
      const stat = await lstat(at);
      if (!stat.isDirectory()) {
        await unlink(at);
      } else if (stat.dev !== device) {
        left.push(`${shown} is another file system and was left alone`);
      } else {
        await emptyBelow(at, shown, device, left);
        await rmdir(at);
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      // A folder that keeps something says so itself.
      if (code !== 'ENOTEMPTY' && code !== 'ENOENT') left.push(`${shown} could not be removed (${code})`);
    }
  }
}

async function emptyBelow(at: Buffer, text: string, device: bigint, left: string[]): Promise<void> {
  const fd = await open(at, READ_FOLDER);
  try {
    // Somebody may have put something else in its place since we looked.
    if ((await fstat(fd)).dev === device) await emptyOpen(fd, text, device, left);
    else left.push(`${text} is another file system and was left alone`);
  } finally {
    await close(fd);
  }
}
