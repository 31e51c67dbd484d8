import type { Entry } from '../../model/entry.ts';
import { openFolder, splitPath } from './open-folder.ts';
import type { EntryTree } from './storage.ts';
import { TreeWalk, type WalkOptions } from './tree-walk.ts';
import { copyContent, PIECE_BYTES } from './vault/content/copy-content.ts';
import { bytesOf, close, errorCode, fstat, open, READ } from './vault/files.ts';

/**
 * A folder as it is now, without the content of its files. Links are never followed: each folder is opened without
 * following, and its entries are looked up through the open descriptor. Other file systems are named and left out.
 * @param root as latin1 bytes
 */
export function walkedTree(root: string, options: WalkOptions = {}): EntryTree {
  return {
    entries: (signal) => new TreeWalk(root, options, signal).run(),
    hash: (entry, signal) => hashOf(root, entry, signal),
  };
}

async function hashOf(root: string, entry: Entry, signal: AbortSignal): Promise<string | undefined> {
  const { parent, name } = splitPath(entry.path);
  try {
    const folder = await openFolder(root, parent);
    let fd: number;
    try {
      fd = await open(bytesOf(`/proc/self/fd/${folder}/${name}`), READ);
    } finally {
      await close(folder);
    }
    try {
      const stat = await fstat(fd);
      if (!stat.isFile()) return undefined;
      const limit = Number(stat.size);
      const content = await copyContent(fd, Buffer.allocUnsafe(PIECE_BYTES), { limit, signal });
      return content.hash;
    } finally {
      await close(fd);
    }
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
