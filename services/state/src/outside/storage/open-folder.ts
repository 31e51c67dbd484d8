import { pathBytes } from '../../model/path-text.ts';
import { bytesOf, close, open, READ_FOLDER } from './vault/files.ts';

/**
 * Opens a folder below a tree, each on the way without following links. The caller closes it.
 * @param root as latin1 bytes
 * @param path path text below it
 */
export async function openFolder(root: string, path: string): Promise<number> {
  let fd = await open(bytesOf(root), READ_FOLDER);
  for (const part of path === '.' ? [] : path.split('/')) {
    const outer = fd;
    try {
      fd = await open(bytesOf(`/proc/self/fd/${outer}/${pathBytes(part)}`), READ_FOLDER);
    } finally {
      await close(outer);
    }
  }
  return fd;
}

/** The folder that an entry lies in, as path text, and its own name as latin1 bytes. */
export function splitPath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf('/');
  return { parent: slash < 0 ? '.' : path.slice(0, slash), name: pathBytes(path.slice(slash + 1)) };
}
