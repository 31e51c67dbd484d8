import { readlink } from 'node:fs/promises';
import { readMounts } from '../../mounts.ts';
import { close, errorCode, mountOf, open, READ_FOLDER } from '../vault/files.ts';
import type { FileSystem } from './filesystem.ts';

/**
 * Whether a dataset is what one finds at a path. `mounted=yes` is also said of one that somebody mounted something else over,
 * there or at a folder above, so the folder itself is asked through which mount it was reached.
 */
export async function isShownAt(dataset: string, path: string): Promise<boolean> {
  if (!path.startsWith('/')) return false;
  let fd: number;
  try {
    fd = await open(Buffer.from(path), READ_FOLDER);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
  try {
    const at = await readlink(`/proc/self/fd/${fd}`);
    const mount = (await readMounts()).find(({ id }) => id === mountOf(fd));
    return mount?.source === dataset && mount.root === '/' && mount.path === at;
  } finally {
    await close(fd);
  }
}

/** Those of some datasets that are mounted and shown at their own places. */
export async function shownOf(systems: readonly FileSystem[]): Promise<readonly FileSystem[]> {
  const shown: FileSystem[] = [];
  for (const system of systems)
    if (system.isMounted && (await isShownAt(system.name, system.path))) shown.push(system);
  return shown;
}
