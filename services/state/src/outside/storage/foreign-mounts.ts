import { realpath } from 'node:fs/promises';
import { pathText } from '../../model/path-text.ts';
import { isOwnType, readMounts } from '../mounts.ts';
import { bytesOf } from './vault/files.ts';

/** What is mounted below a folder. */
export interface MountBelow {
  /** Path text below the folder. */
  readonly path: string;
  /** Whoever asks for its facts may wait for ever. */
  readonly isForeign: boolean;
}

/** What is mounted below a folder, whatever name that has. @param root as latin1 bytes */
export async function mountsBelow(root: string): Promise<readonly MountBelow[]> {
  const real = await realpath(bytesOf(root), { encoding: 'latin1' });
  const start = real === '/' ? real : `${real}/`;
  return (await readMounts()).flatMap(({ path, type }) => {
    const at = Buffer.from(path).toString('latin1');
    if (!at.startsWith(start) || at === start) return [];
    return [{ path: pathText(at.slice(start.length)), isForeign: !isOwnType(type) }];
  });
}

/** Path texts of those that are not even asked for their facts. */
export function foreignAmong(mounts: readonly MountBelow[]): ReadonlySet<string> {
  return new Set(mounts.filter(({ isForeign }) => isForeign).map(({ path }) => path));
}
