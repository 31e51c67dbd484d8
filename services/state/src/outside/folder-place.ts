import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathBytes } from '../model/path-text.ts';
import type { Place } from '../rules/machines/apart.ts';
import { silentMount } from './answering.ts';

/**
 * Where a path leads, by whatever links and mounts. What cannot be looked at, or does not answer, counts as not there.
 * @param path as path text
 */
export async function placeOf(path: string): Promise<Place> {
  const bytes = pathBytes(path);
  const silent = await silentMount(bytes);
  const self = silent === undefined ? await idOf(bytes) : undefined;
  const above: string[] = [];
  let at = silent ?? (self === undefined ? await nearest(bytes) : await real(bytes));
  if ((silent ?? self) !== undefined && at !== undefined) at = at === '/' ? undefined : dirname(at);
  while (at !== undefined) {
    const id = await idOf(at);
    if (id !== undefined) above.push(id);
    at = at === '/' ? undefined : dirname(at);
  }
  return { self, above };
}

/** The folder that is there and in which the path would lie. */
async function nearest(bytes: string): Promise<string | undefined> {
  for (let at = dirname(bytes); ; at = dirname(at)) {
    const found = await real(at);
    if (found !== undefined || at === '/') return found;
  }
}

async function real(bytes: string): Promise<string | undefined> {
  return await realpath(Buffer.from(bytes, 'latin1'), { encoding: 'latin1' }).catch(() => undefined);
}

/** A mount of a file system has the identity of the folder that it shows, wherever it is. */
async function idOf(bytes: string): Promise<string | undefined> {
  const stat = await lstat(Buffer.from(bytes, 'latin1'), { bigint: true }).catch(() => undefined);
  return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : undefined;
}
