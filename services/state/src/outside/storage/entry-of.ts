import type { Entry, EntryType } from '../../model/entry.ts';
import type { Stat } from './vault/files.ts';

/**
 * Folders with longer paths, in characters of path text, are not looked into: the system takes 4,096 bytes at most, a place to
 * restore to needs some of them, and a tree of a hundred thousand levels would have a list of gigabytes.
 */
export const MAX_FOLDER_PATH = 3500;

/** What is known of something without opening it, and what else was found out. */
export function entryOf(path: string, stat: Stat, more: Partial<Entry>): Entry {
  return {
    path,
    type: typeOf(stat),
    mode: (stat.mode & 0o7777n).toString(8),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    mtimeNs: String(stat.mtimeNs),
    ...more,
  };
}

/**
 * What not even root may look at, as somebody mounted it for himself (sshfs), or what may never answer, as its server is gone.
 * Everything beside it can be read all the same.
 */
export function closedMount(path: string): Entry {
  return { path, type: 'folder', mode: '700', uid: 0, gid: 0, mtimeNs: '0', leftOut: 'mount' };
}

/** What an entry calls something. */
export function typeOf(stat: Stat): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  if (stat.isFIFO()) return 'fifo';
  if (stat.isSocket()) return 'socket';
  return stat.isBlockDevice() ? 'block' : 'char';
}
