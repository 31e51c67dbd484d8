import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { readNode } from './commit-nodes.ts';
import { readRecords } from './records.ts';

/** How much lies between two commits. A renamed file is one, binary files have no lines. */
export interface ChangeCounts {
  files: number;
  additions: number;
  deletions: number;
}

/** Two commits. */
export interface CommitPair {
  from: string;
  to: string;
}

/** By both trees, which never change; false for what takes too long to count. */
const known = new LRUCache<string, ChangeCounts | false>({
  maxSize: 50_000,
  sizeCalculation: () => 1,
});
/** Answers wait for it, so rather no counts than late ones. */
const TIMEOUT_MS = 2_000;

/**
 * What lies between commits, in the order of the pairs: one process for all that was not counted before, none when all
 * was. Undefined for what takes too long, and for no pair.
 */
export async function countChanges(
  git: Git,
  repositoryId: number,
  pairs: readonly (CommitPair | undefined)[],
): Promise<(ChangeCounts | undefined)[]> {
  const keys = await Promise.all(pairs.map((pair) => treesOf(git, repositoryId, pair)));
  const missing = new Set(keys.filter((key) => key !== undefined && !known.has(key)));
  if (missing.size > 0)
    await count(
      git,
      repositoryId,
      [...missing].filter((key) => key !== undefined),
    );
  return keys.map((key) => (key === undefined ? undefined : known.get(key) || undefined));
}

async function treesOf(
  git: Git,
  repositoryId: number,
  pair: CommitPair | undefined,
): Promise<string | undefined> {
  if (pair === undefined) return undefined;
  const { from, to } = pair;
  const [before, after] = await Promise.all([from, to].map((id) => readNode(git, repositoryId, id)));
  return before && after && `${before.tree} ${after.tree}`;
}

/** Prints `<tree> <tree>\n` for each line of its input, and behind it the lines and the path of each file. */
async function count(git: Git, repositoryId: number, keys: readonly string[]): Promise<void> {
  const args = ['diff-tree', '--stdin', '-r', '-z', '-M', '--numstat', '--no-ext-diff', '--no-textconv'];
  const counts = new Map<string, ChangeCounts>();
  let key = '';
  let current: ChangeCounts | undefined;
  let paths = 0;
  const ended = await readRecords(
    git,
    repositoryId,
    args,
    (record) => {
      // Both paths of a renamed file are records of their own.
      if (paths > 0) return void paths--;
      const text = record.toString('latin1');
      const begins = HEADERS.exec(text)?.[0] ?? '';
      if (begins !== '') {
        key = begins.slice(-KEY_LENGTH - 1, -1);
        current = { files: 0, additions: 0, deletions: 0 };
        counts.set(key, current);
      }
      const [additions, deletions, path] = text.slice(begins.length).split('\t', 3);
      if (current === undefined) return;
      current.files++;
      current.additions += Number(additions) || 0;
      current.deletions += Number(deletions) || 0;
      if (path === '') paths = 2;
    },
    { input: `${keys.join('\n')}\n`, timeoutMs: TIMEOUT_MS },
  );
  if (ended === 'done')
    for (const one of keys) known.set(one, counts.get(one) ?? { files: 0, additions: 0, deletions: 0 });
  else note(keys, counts, key);
}

/** What git was at when it was ended takes too long; what came before it is counted, what comes behind is not yet. */
function note(keys: readonly string[], counts: ReadonlyMap<string, ChangeCounts>, last: string): void {
  for (const [key, one] of counts) if (key !== last) known.set(key, one);
  const slow = last === '' ? keys[0] : last;
  if (slow !== undefined) known.set(slow, false);
}

const KEY_LENGTH = 81;
const HEADERS = /^(?:[0-9a-f]{40} [0-9a-f]{40}\n)+/;
