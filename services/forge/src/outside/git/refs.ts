import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Exit } from './broker.ts';
import { ConversationEnded, type TakeAnswer } from './conversation.ts';
import type { Git } from './git.ts';
import { someAtOnce } from './objects.ts';
import { sync } from './repository.ts';
import { type Before, swapBranch } from './swap-branch.ts';

/** Where git keeps the refs that have no file of their own: who deletes one of them replaces it. */
export const PACKED = 'packed-refs';

/** The value of a ref that does not exist. */
export const NO_COMMIT = '0'.repeat(40);

/** One ref to move; without `new` it is deleted, without `old` it may be anywhere. */
export interface RefChange {
  ref: string;
  new?: string;
  old?: string;
}

/** Full name of a branch; the name was checked, or git itself accepted it once. */
export const branchRef = (branch: string) => `refs/heads/${branch}`;

/** Full name of a tag; the same holds for its name. */
export const tagRef = (tag: string) => `refs/tags/${tag}`;

/** Full name of the ref that keeps the commits of a pull request. */
export const pullRef = (number: number) => `refs/pull/${number}/head`;

/**
 * The commits that refs point to, in their order; undefined for those that do not exist. Names must be full
 * (`refs/…`) and well-formed.
 */
export async function readRefs(
  git: Git,
  repositoryId: number,
  refs: readonly string[],
): Promise<(string | undefined)[]> {
  if (refs.length === 0) return [];
  const conversation = await git.converse(repositoryId, 'objects');
  try {
    const [exact, ...commits] = await Promise.all([
      readRefIds(git, repositoryId, refs.filter(looksLikeDescription)),
      ...refs.map((ref) =>
        looksLikeDescription(ref) ? undefined : conversation.ask(`info ${ref}\n`, takeObjectId),
      ),
    ]);
    return refs.map((ref, index) => commits[index] ?? exact.get(ref));
  } catch (error) {
    // A question does no harm twice: the process may have been ended for being idle in this moment.
    if (!(error instanceof ConversationEnded)) throw error;
    const exact = await readRefIds(git, repositoryId, refs);
    return refs.map((ref) => exact.get(ref));
  }
}

/** The commit a single ref points to, or undefined. */
export async function readRef(git: Git, repositoryId: number, ref: string): Promise<string | undefined> {
  return (await readRefs(git, repositoryId, [ref]))[0];
}

/** Names of all branches, in the order of the alphabet. */
export async function listBranches(git: Git, repositoryId: number): Promise<string[]> {
  const listed = await git.output(repositoryId, ['for-each-ref', '--format=%(refname)', 'refs/heads']);
  const prefix = branchRef('').length;
  return listed
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(prefix));
}

/** What refs of exactly these names point to, tags included; those that do not exist are missing. At most one process. */
export async function readRefIds(
  git: Git,
  repositoryId: number,
  refs: readonly string[],
): Promise<Map<string, string>> {
  if (refs.length === 0) return new Map();
  // Beyond a few, naming them would take more than looking through all.
  const isFew = refs.length <= MAX_NAMED && refs.join('').length <= MAX_NAMES_LENGTH;
  const named = isFew ? refs : [];
  const format = '--format=%(objectname) %(refname)';
  // It ends well whether they exist or not; `show-ref --verify` fails in the same way for a ref that is missing and for itself.
  const listed = await git.output(repositoryId, ['for-each-ref', format, '--', ...named]);
  const wanted = new Set(refs);
  const lines = listed.toString().split('\n');
  const found = lines.map((line) => [line.slice(41), line.slice(0, 40)] as const);
  return new Map(found.filter(([ref]) => wanted.has(ref)));
}

const MAX_NAMED = 100;
/** A push may name what is longer than a process takes. */
const MAX_NAMES_LENGTH = 100_000;

/** Makes a branch the one that clones check out. */
export async function pointHeadAt(git: Git, repositoryId: number, branch: string): Promise<void> {
  await git.output(repositoryId, ['symbolic-ref', 'HEAD', branchRef(branch)]);
  await syncRefs(git, repositoryId, ['HEAD']);
}

/**
 * Moves refs together or not at all: `moved` when one of them is no longer at its old value.
 * @param before what is still under way, where something is
 */
export async function moveRefs(
  git: Git,
  repositoryId: number,
  changes: readonly RefChange[],
  before?: Before,
): Promise<'done' | 'moved'> {
  if (before !== undefined) {
    const swapped = await swapMeanwhile(git, repositoryId, changes, before);
    if (swapped !== undefined) return swapped;
  }
  const commands = changes.map(({ ref, new: next, old = '' }) =>
    next === undefined ? `delete ${ref}\0${old}\0` : `update ${ref}\0${next}\0${old}\0`,
  );
  const transaction = `start\0${commands.join('')}prepare\0commit\0`;
  try {
    await (await git.converse(repositoryId, 'refs')).ask(transaction, takeThreeLines);
  } catch (error) {
    if (!(error instanceof ConversationEnded)) throw error;
    if ((await settleFailure(git, repositoryId, changes, transaction, error.exit)) === 'moved')
      return 'moved';
  }
  await syncRefs(git, repositoryId, [
    ...changes.map(({ ref }) => ref),
    ...(changes.some((change) => change.new === undefined) ? [PACKED] : []),
  ]);
  return 'done';
}

/**
 * Where refs are is on the disk afterwards: git flushes the files that it writes, and not the folders that have their names.
 * Without it a power cut in the next seconds takes back what was told and recorded already, and leaves git's lock.
 */
export async function syncRefs(git: Git, repositoryId: number, refs: readonly string[]): Promise<void> {
  const repository = git.folderOf(repositoryId);
  const missing: string[] = [];
  await someAtOnce([...new Set(refs.map((ref) => dirname(ref)))], (some) =>
    Promise.all(
      some.map(async (folder) => {
        try {
          await sync(join(repository, folder));
        } catch (error) {
          if (!GONE.has((error as NodeJS.ErrnoException).code ?? '') || folder === '.') throw error;
          missing.push(folder);
        }
      }),
    ),
  );
  // The folder that it was in has its name no more.
  if (missing.length > 0) await syncRefs(git, repositoryId, missing);
}

/** The folder of what was deleted goes with it, and a branch may have taken its name. */
const GONE = new Set(['ENOENT', 'ENOTDIR']);

/** A single branch can be made ready while its commit is being written. */
async function swapMeanwhile(
  git: Git,
  repositoryId: number,
  [change, ...others]: readonly RefChange[],
  before: Before,
): Promise<'done' | 'moved' | undefined> {
  const { ref = '', old, new: next } = change ?? {};
  if (others.length === 0 && old !== undefined && next !== undefined && ref.startsWith(branchRef('')))
    return await swapBranch(git, repositoryId, { ref, old, new: next }, before);
  await Promise.all([before.announced, before.written]);
  return undefined;
}

/**
 * A failed transaction ends the process, possibly after the refs had moved, and with it all that wait for it: the refs themselves
 * say what happened. Where they are as before, what the process said may be of another transaction, or of an empty folder that
 * another git tidied away: once more, with a process that hears of nothing else.
 */
async function settleFailure(
  git: Git,
  repositoryId: number,
  changes: readonly RefChange[],
  transaction: string,
  first: Exit,
): Promise<'done' | 'moved'> {
  const where = () => findRefs(git, repositoryId, changes);
  let [place, exit] = [await where(), first];
  if (place === 'before') {
    exit = await git.run(repositoryId, ['update-ref', '-z', '--stdin'], transaction);
    place = exit.code === 0 ? 'after' : await where();
  }
  if (place === 'after') return 'done';
  // git does not say why it could not write.
  const isUnwritten = /couldn't write|unable to create directory/.test(exit.stderr);
  const isForRoom = isUnwritten && (await isFull(git.folderOf(repositoryId)));
  if (!isForRoom && MOVED.test(exit.stderr)) return 'moved';
  throw Object.assign(new ConversationEnded(exit), isForRoom ? { code: 'ENOSPC' } : {});
}

/** Whether refs are where they are to go, or where they were. */
async function findRefs(
  git: Git,
  repositoryId: number,
  changes: readonly RefChange[],
): Promise<'after' | 'before' | 'elsewhere'> {
  const refs = changes.map(({ ref }) => ref);
  const values = await readRefIds(git, repositoryId, refs);
  if (changes.every((change) => values.get(change.ref) === change.new)) return 'after';
  const isBefore = ({ ref, old }: RefChange) => old === undefined || (values.get(ref) ?? NO_COMMIT) === old;
  return changes.every(isBefore) ? 'before' : 'elsewhere';
}

async function isFull(folder: string): Promise<boolean> {
  const { bavail, files, ffree } = await statfs(folder);
  return bavail === 0 || (files > 0 && ffree === 0);
}

/** What git says when a ref is elsewhere, or when one whose name it is a part of, or that is a part of its name, took its place. */
const MOVED =
  /but expected|already exists|unable to resolve reference|File exists|exists; cannot create|Not a directory|non-directory in the way/;

/**
 * cat-file reads a missing `refs/heads/x-gabc1234` as the output of `git describe` and answers with commit abc1234,
 * branch or not; such names take the slower, exact way. (Other ways a missing ref could be read as another one start
 * with `refs/` under `refs/heads/`, and nobody can push those: see smart-http.ts.)
 */
export function looksLikeDescription(ref: string): boolean {
  return /-g[0-9a-f]{4,}$/i.test(ref);
}

const takeObjectId: TakeAnswer<string | undefined> = (received) => {
  const end = received.indexOf('\n');
  if (end === -1) return undefined;
  const [id = '', type] = received.toString('latin1', 0, end).split(' ');
  return { answer: type === 'commit' ? id : undefined, length: end + 1 };
};

/** `start: ok`, `prepare: ok`, `commit: ok`; a refusal ends the process instead. */
const takeThreeLines: TakeAnswer<void> = (received) => {
  let end = -1;
  for (let line = 0; line < 3; line++) {
    end = received.indexOf('\n', end + 1);
    if (end === -1) return undefined;
  }
  return { answer: undefined, length: end + 1 };
};
