import { realpath } from 'node:fs/promises';
import { homeRefused } from '../../../failures.ts';
import { pathBytes } from '../../../model/path-text.ts';
import { readMounts } from '../../mounts.ts';
import { bytesOf, lstat, type Stat } from './files.ts';

/** What is written down of a home that is a mount point. */
export interface MountedHome {
  /** It is a file system that was mounted there when the home was registered: which one. */
  readonly mounted?: string;
}

/** Also of a folder that got the place and the number of one that was deleted. */
export function identityOf({ dev, ino, birthtimeNs }: Stat): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/** Which file system is mounted at the very place of a home; nothing when the home is a folder of what it lies in. */
export async function mountedAt(path: string): Promise<MountedHome> {
  const at = bytesOf(pathBytes(path));
  const real = await realpath(at).catch(() => undefined);
  const stat = await lstat(at).catch(() => undefined);
  const isMount = (await readMounts()).some((mount) => mount.path === real);
  return isMount && stat !== undefined ? { mounted: identityOf(stat) } : {};
}

export function mountOfHome(kept: MountedHome | undefined): MountedHome {
  return kept?.mounted === undefined ? {} : { mounted: kept.mounted };
}

/** What somebody mounted over a home is not the home. @throws FAILED_PRECONDITION */
export async function checkMount(path: string, known: MountedHome | undefined): Promise<void> {
  const { mounted } = await mountedAt(path);
  if (mounted !== undefined && mounted !== known?.mounted)
    throw homeRefused(
      path,
      'another file system is mounted there than when the home was registered, so nothing was deleted. Unmount it, or call CreateUserData with the same path if it is the home',
    );
}
