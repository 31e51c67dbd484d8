import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { homeRefused } from '../../../../failures.ts';
import { pathBytes, pathText } from '../../../../model/path-text.ts';
import type { Account } from '../../../identity/accounts.ts';
import { isBelow } from '../../../mounts.ts';
import { errorCode } from '../../vault/files.ts';
import type { FileSystem } from '../filesystem.ts';
import { poolOf } from '../zfs-commands.ts';

/** @returns whether an empty folder lies there already @throws FAILED_PRECONDITION when no home can be mounted there */
export async function checkMountPoint(
  path: string,
  at: string,
  systems: readonly FileSystem[],
  pool: string,
): Promise<boolean> {
  const altroot = systems.find(({ name }) => poolOf(name) === pool)?.altroot ?? '';
  if (altroot !== '' && !isBelow(at, altroot))
    throw homeRefused(path, `the pool ${pool} can only be mounted below ${altroot}`);
  const other = systems.find((system) => system.path === at && system.isMounted);
  if (other !== undefined) throw homeRefused(path, `${other.name} is mounted there`);
  try {
    const found = await lstat(at);
    if (!found.isDirectory()) throw homeRefused(path, 'it is a link or no folder');
    if ((await readdir(at)).length > 0) throw homeRefused(path, 'it is not empty');
    return true;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    if (errorCode(error) !== 'ENOENT') throw homeRefused(path, (error as Error).message);
  }
  const parent = await lstat(dirname(at)).catch(() => undefined);
  if (!parent?.isDirectory()) throw homeRefused(path, 'the folder it is to lie in is not there');
  return false;
}

/** Nobody else can enter it. */
export async function giveTo(owner: Account | undefined, at: string): Promise<void> {
  await chmod(at, 0o700);
  if (owner !== undefined) await lchown(at, owner.uid, owner.gid);
}

/** A path as it is kept. */
export function textOf(path: string): string {
  return path.startsWith('/') ? pathText(Buffer.from(path).toString('latin1')) : path;
}

/** ZFS takes paths that are UTF-8. */
export function bytesOf(path: string): string {
  return Buffer.from(pathBytes(path), 'latin1').toString('utf8');
}
