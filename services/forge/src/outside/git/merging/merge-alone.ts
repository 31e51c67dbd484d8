import { Failure } from '@croft/failure';
import { MAX_CONFLICTS } from '../../../rules/pulls/mergeable.ts';
import type { Exit } from '../broker.ts';
import type { Git } from '../git.ts';
import { GitFailed } from '../git-failed.ts';
import { readRecords } from '../reading/records.ts';
import { inTurn } from '../reading/turns.ts';
import { type MergedTree, readMergedTree } from './merged-tree.ts';

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
/** Names of files in conflict that are longer together are not all told, and not waited for. */
const MAX_PRINTED_BYTES = 256 * 1024;

/**
 * Merges in a process of its own. Only people can put together what takes more than it may have, and what git falls over: those are
 * conflicts, of which large files have a name; the tree is that of `theirs` then, which has all that may come.
 * @throws 503 when it is not for large files that it takes more
 */
export async function mergeAlone(git: Git, repositoryId: number, merge: LoneMerge): Promise<MergedTree> {
  const { topic, ours, theirs, environment, options = [] } = merge;
  const args = ['-c', 'core.fsync=none', ...options, ...MERGE_TREE, ours, theirs];
  const limits = { timeoutMs: TIMEOUT_MS, isConfined: true, maxBytes: MAX_PRINTED_BYTES };
  const run = () => git.run(repositoryId, args, undefined, environment, limits);
  // Trials are for readers, of whom there may be a crowd; merges stand in the queue of their repository.
  const { stdout, ...exit } = await (topic === 'trials' ? inTurn(git, run) : run());
  // A code of 1 does not tell conflicts from commits that do not exist.
  const merged = readMergedTree(stdout, exit.code === 0);
  if (merged !== undefined) return merged;
  if (hasCrashed(exit)) return { tree: theirs, isClean: false, conflicts: [] };
  if (!hasGivenUp(exit)) throw new GitFailed(repositoryId, MERGE_TREE, exit);
  const conflicts = await listTooLarge(git, repositoryId, merge);
  if (conflicts.length > 0) return { tree: theirs, isClean: false, conflicts, isGivenUp: true };
  // That may be so for a while only, as where the machine is short of memory.
  throw new Failure('unavailable', TOO_MUCH, 'git has not the memory or the time to merge this now', {
    retryAfterSeconds: 60,
  });
}

const TOO_MUCH = 'merge_too_much';

/** Whether that is why two commits were not merged. */
export const isTooMuch = (error: unknown): boolean => error instanceof Failure && error.code === TOO_MUCH;

/** Whether a program ended over a merge, though perhaps not the one that it was asked for last. */
export const hasFailedOver = (exit: Exit): boolean =>
  exit.code === 128 || hasCrashed(exit) || hasGivenUp(exit);

/** It had not the memory, or was ended for taking too long. */
const hasGivenUp = ({ code, stderr }: Exit): boolean =>
  /out of memory|cannot allocate/i.test(stderr) || (code === null && stderr === '');

/** As git before 2.51 does where folders were moved into each other: an assertion fails. */
const hasCrashed = ({ signal }: Exit): boolean => signal !== null && CRASHES.has(signal);
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL']);

const MERGE_TREE = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages'] as const;
/** Bytes of a list of changes, which has 100 for each and its path. */
const MAX_CHANGES_BYTES = 32 * 1024 * 1024;
const DIFF_TREE = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff'] as const;

/**
 * The large files that both have changed; where there are none git has followed a rename, so those that one has. None of
 * more changes than can be looked through.
 */
async function listTooLarge(git: Git, repositoryId: number, merge: LoneMerge): Promise<string[]> {
  const { ours, theirs, environment } = merge;
  const ask: Ask = async (args, input) =>
    (await git.output(repositoryId, args, input, environment)).toString();
  const base = (await ask(['merge-base', ours, theirs])).trim();
  const large: string[][] = [];
  // One after the other, as each may be all that we want to hold.
  for (const side of [ours, theirs]) {
    const changes = await listChanges(git, repositoryId, environment, base, side);
    if (changes === undefined) return [];
    large.push(await listLarge(ask, changes));
  }
  const [own = [], other = []] = large;
  const inOther = new Set(other);
  const both = own.filter((path) => inOther.has(path));
  return (both.length > 0 ? both : [...new Set([...own, ...other])]).slice(0, MAX_CONFLICTS);
}

type Ask = (args: readonly string[], input?: string) => Promise<string>;

/** A path that changed, and what was there and is. */
interface Change {
  path: string;
  ids: readonly string[];
}

/** Undefined when they are too many, or cannot be read. */
async function listChanges(
  git: Git,
  repositoryId: number,
  environment: LoneMerge['environment'],
  from: string,
  to: string,
): Promise<Change[] | undefined> {
  const changes: Change[] = [];
  let ids: string[] | undefined;
  let size = 0;
  // `:<mode> <mode> <id> <id> <status>`, then the path.
  const take = (record: Buffer) => {
    size += record.length;
    if (ids === undefined) ids = record.toString('latin1').split(' ').slice(2, 4);
    else {
      changes.push({ path: record.toString(), ids });
      ids = undefined;
    }
    return size <= MAX_CHANGES_BYTES;
  };
  const ended = await readRecords(git, repositoryId, [...DIFF_TREE, from, to], take, { environment });
  return ended === 'done' && size <= MAX_CHANGES_BYTES ? changes : undefined;
}

/** The paths of what is large, or was. */
async function listLarge(ask: Ask, changes: readonly Change[]): Promise<string[]> {
  const ids = [...new Set(changes.flatMap((change) => change.ids))];
  // For an id that is none, of what was not there or is not any more, a word stands in place of a size.
  const sizes = (
    await ask(['cat-file', '--batch-check=%(objectsize)'], ids.map((id) => `${id}\n`).join(''))
  ).split('\n');
  const large = new Set(ids.filter((_, index) => Number(sizes[index]) >= LARGE_BYTES));
  return changes.filter((change) => change.ids.some((id) => large.has(id))).map(({ path }) => path);
}
