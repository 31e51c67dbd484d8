import { readdir, realpath } from 'node:fs/promises';
import { mountOf, readMounts } from '../mounts.ts';

/** The file system that a folder is on. */
export interface FileSystem {
  /** Where it is mounted. */
  readonly mount: string;
  /** The folder of it that is mounted there, such as a subvolume. */
  readonly root: string;
  /** Undefined where the host does not tell. */
  readonly uuid: string | undefined;
  /** Its kind, as mount names it, and the device or name that was mounted; empty where the host does not tell. */
  readonly type: string;
  readonly source: string;
}

const BY_UUID = '/dev/disk/by-uuid';

/** Finds out by the kernel's list of mounts. */
export async function fileSystemOf(folder: string): Promise<FileSystem> {
  const found = mountOf(await readMounts(), await realpath(folder));
  if (found === undefined) return { mount: '/', root: '/', uuid: undefined, type: '', source: '' };
  const { path, root, type, source } = found;
  return { mount: path, root, uuid: await uuidOf(source), type, source };
}

async function uuidOf(source: string): Promise<string | undefined> {
  const device = await realpath(source).catch(() => undefined);
  for (const uuid of await readdir(BY_UUID).catch(() => [])) {
    if ((await realpath(`${BY_UUID}/${uuid}`).catch(() => '')) === device) return uuid;
  }
  return undefined;
}
