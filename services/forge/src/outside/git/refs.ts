import { ConversationEnded, type TakeAnswer } from './conversation.ts';
import type { Git } from './git.ts';
import { swapBranch } from './swap-branch.ts';

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
  const named = refs.length <= MAX_NAMED ? refs : [];
  const format = '--format=%(objectname) %(refname)';
  // It ends well whether they exist or not; `show-ref --verify` fails in the same way for a ref that is missing and for itself.
  const listed = await git.output(repositoryId, ['for-each-ref', format, '--', ...named]);
  const wanted = new Set(refs);
  const lines = listed.toString().split('\n');
  const found = lines.map((line) => [line.slice(41), line.slice(0, 40)] as const);
  return new Map(found.filter(([ref]) => wanted.has(ref)));
}

const MAX_NAMED = 100;

/** Makes a branch the one that clones check out. */
export async function pointHeadAt(git: Git, repositoryId: number, branch: string): Promise<void> {
  await git.output(repositoryId, ['symbolic-ref', 'HEAD', branchRef(branch)]);
}

/**
 * Moves refs together or not at all: `moved` when one of them is no longer at its old value.
 * @param written settles when the new commits are on the disk, where that is still to come
 */
export async function moveRefs(
  git: Git,
  repositoryId: number,
  changes: readonly RefChange[],
  written?: Promise<void>,
): Promise<'done' | 'moved'> {
  if (written !== undefined) {
    const swapped = await swapMeanwhile(git, repositoryId, changes, written);
    if (swapped !== undefined) return swapped;
  }
  const commands = changes.map(({ ref, new: next, old = '' }) =>
    next === undefined ? `delete ${ref}\0${old}\0` : `update ${ref}\0${next}\0${old}\0`,
  );
  const conversation = await git.converse(repositoryId, 'refs');
  try {
    await conversation.ask(`start\0${commands.join('')}prepare\0commit\0`, takeThreeLines);
    return 'done';
  } catch (error) {
    if (!(error instanceof ConversationEnded)) throw error;
    return await judgeFailure(git, repositoryId, changes, error);
  }
}

/** A single branch can be made ready while its commit is being written. */
async function swapMeanwhile(
  git: Git,
  repositoryId: number,
  [change, ...others]: readonly RefChange[],
  written: Promise<void>,
): Promise<'done' | 'moved' | undefined> {
  const { ref = '', old, new: next } = change ?? {};
  if (others.length === 0 && old !== undefined && next !== undefined && ref.startsWith(branchRef('')))
    return await swapBranch(git, repositoryId, { ref, old, new: next }, written);
  await written;
  return undefined;
}

/** A failed transaction ends the process, possibly after the refs had moved: the refs themselves say what happened. */
async function judgeFailure(
  git: Git,
  repositoryId: number,
  changes: readonly RefChange[],
  error: ConversationEnded,
): Promise<'done' | 'moved'> {
  const refs = changes.map(({ ref }) => ref);
  const values = await readRefIds(git, repositoryId, refs);
  if (changes.every((change) => values.get(change.ref) === change.new)) return 'done';
  if (
    /but expected|already exists|unable to resolve reference|File exists|exists; cannot create/.test(
      error.stderr,
    )
  )
    return 'moved';
  throw error;
}

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
