import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from './git.ts';

/**
 * What a program that was cut down left in the folder of a repository: a lock, a file that never became whole, or a folder of
 * objects that never became part of it.
 */
interface Leftover {
  /** Its path in the folder. */
  name: string;
  /** Milliseconds since 1970. */
  madeAt: number;
}

/** No git of ours holds a lock for longer than a moment; an older one is from a git that was cut down. */
const STALE_AFTER_MS = 10_000;
/** Locks beside those on refs. Each stops its part of git for ever when it is left behind. */
const OTHER_LOCKS = [
  'HEAD.lock',
  'config.lock',
  'packed-refs.lock',
  'objects/maintenance.lock',
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/pack/multi-pack-index.lock',
];

export const isLock = (name: string) => name.endsWith('.lock');

/** Everything that may be one; what is young may be in use. */
export async function listLeftovers(folder: string): Promise<Leftover[]> {
  const isHalf = (name: string) => name.startsWith('tmp_');
  const names = [
    ...(await readdir(join(folder, 'refs'), { recursive: true }))
      .filter(isLock)
      .map((name) => `refs/${name}`),
    ...OTHER_LOCKS,
    ...(await readdir(join(folder, 'objects'))).filter(isHalf).map((name) => `objects/${name}`),
    ...(await readdir(join(folder, 'objects/pack')).catch(() => []))
      .filter(isHalf)
      .map((name) => `objects/pack/${name}`),
  ];
  const found: Leftover[] = [];
  for (const name of names) {
    const made = await stat(join(folder, name)).catch(() => undefined);
    if (made !== undefined) found.push({ name, madeAt: made.mtimeMs });
  }
  return found;
}

/**
 * Removes what a crash or a power cut left: git respects a lock for ever.
 * @param ours the commit for which we had a lock ourselves, which nobody holds any more
 * @param madeBefore milliseconds since 1970: what is younger may be in use
 * @returns how many there were
 */
export async function removeLeftovers(
  git: Git,
  repositoryId: number,
  { ours, madeBefore = Date.now() - STALE_AFTER_MS }: { ours?: string; madeBefore?: number } = {},
): Promise<number> {
  const folder = git.folderOf(repositoryId);
  let removed = 0;
  for (const { name, madeAt } of await listLeftovers(folder)) {
    const file = join(folder, name);
    const isOurs =
      ours !== undefined && isLock(name) && (await readFile(file, 'latin1').catch(() => '')) === `${ours}\n`;
    if (!isOurs && madeAt > madeBefore) continue;
    await rm(file, { recursive: true, force: true });
    removed++;
  }
  return removed;
}
