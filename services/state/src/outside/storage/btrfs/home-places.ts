import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { homeRefused } from '../../../failures.ts';
import { isBelow, mountOf, readMounts } from '../../mounts.ts';
import { errorCode } from '../vault/files.ts';

/** Where homes may lie. */
interface HomesRoot {
  /** Where the top level is mounted. */
  readonly root: string;
  /** The subvolume or folder that holds homes, from the top level on. */
  readonly homes: string;
}

/**
 * The subvolume that a home at a path of the host is, from the top level on. What lies below the folder of homes is seen
 * where that is mounted, so no home needs a mount of its own.
 * @throws FAILED_PRECONDITION when no part of the folder of homes is seen there
 */
export async function homeSubvolume(path: string, { root, homes }: HomesRoot): Promise<string> {
  const mounts = await readMounts();
  const parent = await realpath(dirname(path)).catch((error) => {
    const missing = errorCode(error) === 'ENOENT' ? 'the folder it is to lie in is not there' : undefined;
    throw homeRefused(path, missing ?? (error as Error).message);
  });
  const shown = mountOf(mounts, parent);
  const { device } = mountOf(mounts, root) ?? {};
  const places = mounts.filter((mount) => mount.device === device && isBelow(mount.root, `/${homes}`));
  const at = places.map((mount) => mount.path).join(' and ') || 'no place';
  if (shown === undefined || shown.device !== device)
    throw homeRefused(
      path,
      `a home is a subvolume in ${homes}, which is mounted at ${at}, and this is another file system`,
    );
  const inside = `${shown.root === '/' ? '' : shown.root}${parent.slice(shown.path === '/' ? 0 : shown.path.length)}`;
  const subvolume = `${inside}/${basename(path)}`.replace(/^\/+/, '');
  if (!isBelow(subvolume, homes) || subvolume === homes)
    throw homeRefused(
      path,
      `a home is a subvolume in ${homes}, which is mounted at ${at}: choose a path there`,
    );
  return subvolume;
}
