import { Failure } from '@croft/failure';
import type { Exit } from '../broker.ts';
import type { Git } from '../git.ts';
import { inTurn } from '../reading/turns.ts';
import type { MergedTree } from './merge-room.ts';

/** Two commits with related histories, and where they are to be merged. */
export interface LoneMerge {
  topic: 'trials' | 'merges';
  ours: string;
  theirs: string;
  /** Lets a process read them, and says where it writes. */
  environment: Readonly<Record<string, string>>;
  /** Options before the subcommand. */
  options?: readonly string[];
}

const TIMEOUT_MS = 30_000;
/** Files below this are merged, whatever is in them. */
const LARGE_BYTES = 1024 * 1024;
/** Of so many is told that they are too large. */
const MAX_CONFLICTS = 100;

/**
 * Merges in a process of its own. Files that take more than it may have are in conflict, as only people can put them
 * together; the tree is that of `theirs` then, which has all that may come.
 * @throws 503 when it is not for large files that it takes more
 */
export async function mergeAlone(git: Git, repositoryId: number, merge: LoneMerge): Promise<MergedTree> {
  const { topic, ours, theirs, environment, options = [] } = merge;
  const args = ['-c', 'core.fsync=none', ...options, ...MERGE_TREE, ours, theirs];
  const limits = { timeoutMs: TIMEOUT_MS, isConfined: true };
  const run = () => git.run(repositoryId, args, undefined, environment, limits);
  // Trials are for readers, of whom there may be a crowd; merges stand in the queue of their repository.
  const { stdout, ...exit } = await (topic === 'trials' ? inTurn(git, run) : run());
  const [tree = '', ...files] = stdout.toString().split('\0');
  // The exit code does not tell: it is 1 for conflicts and for commits that do not exist.
  if (/^[0-9a-f]{40,64}$/.test(tree)) return { tree, conflicts: conflictedFiles(files) };
  if (!hasGivenUp(exit)) throw new Error(`merge-tree of ${ours} and ${theirs} failed: ${exit.stderr}`);
  const conflicts = await listTooLarge(git, repositoryId, merge);
  if (conflicts.length > 0) return { tree: theirs, conflicts };
  // That may be so for a while only, as where the machine is short of memory.
  throw new Failure('unavailable', TOO_MUCH, 'git has not the memory or the time to merge this now', {
    retryAfterSeconds: 60,
  });
}

const TOO_MUCH = 'merge_too_much';

/** Whether that is why two commits were not merged. */
export const isTooMuch = (error: unknown): boolean => error instanceof Failure && error.code === TOO_MUCH;

/** Whether a merge was too much for a program: it had not the memory, or was ended for taking too long. */
export const hasGivenUp = ({ code, stderr }: Exit): boolean =>
  /out of memory/i.test(stderr) || (code === null && stderr === '');

/** One file has several entries, and another name where both a file and a folder want to be: `name~<commit>`. */
export function conflictedFiles(listed: readonly string[]): string[] {
  return [...new Set(listed.filter((file) => file !== '').map((file) => file.replace(/~[0-9a-f]{40}$/, '')))];
}

/** Prints `<tree>\0`, and after conflicts `<file>\0…`. */
const MERGE_TREE = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages'] as const;
const DIFF_TREE = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff'] as const;

/** The large files that both have changed; where there are none git has followed a rename, so those that one has. */
async function listTooLarge(
  git: Git,
  repositoryId: number,
  { ours, theirs, environment }: LoneMerge,
): Promise<string[]> {
  const ask: Ask = async (args, input) =>
    (await git.output(repositoryId, args, input, environment)).toString();
  const base = (await ask(['merge-base', ours, theirs])).trim();
  const [own = [], other = []] = await Promise.all(
    [ours, theirs].map(async (side) => await listLarge(ask, await ask([...DIFF_TREE, base, side]))),
  );
  const inOther = new Set(other);
  const both = own.filter((path) => inOther.has(path));
  return (both.length > 0 ? both : [...new Set([...own, ...other])]).slice(0, MAX_CONFLICTS);
}

type Ask = (args: readonly string[], input?: string) => Promise<string>;

/** Of `:<mode> <mode> <id> <id> <status>` and a path, with NUL behind each, the paths of what is large or was. */
async function listLarge(ask: Ask, changes: string): Promise<string[]> {
  const files = [...changes.matchAll(/:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) \w\0([^\0]+)\0/g)].flatMap(
    ([, before = '', after = '', path = '']) => [before, after].map((id) => ({ id, path })),
  );
  const ids = files.map(({ id }) => `${id}\n`).join('');
  // For an id that is none, of what was not there or is not any more, a word stands in place of a size.
  const sizes = (await ask(['cat-file', '--batch-check=%(objectsize)'], ids)).split('\n');
  const large = files.filter((_, index) => Number(sizes[index]) >= LARGE_BYTES);
  return [...new Set(large.map(({ path }) => path))];
}
