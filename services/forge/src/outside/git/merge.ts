import { ConversationEnded, type TakeAnswer } from './conversation.ts';
import { objectsOf } from './environment.ts';
import type { Git } from './git.ts';
import { adoptObjects, type GitObject, writeObject } from './objects.ts';

/** What merging two commits gives: a tree, with markers in the named files when they conflict. */
export interface MergedTree {
  tree: string;
  conflicts: string[];
}

/**
 * The best common ancestor of two commits; undefined when their histories are unrelated.
 * @param beside id of another repository, whose objects are needed as well
 */
export async function findMergeBase(
  git: Git,
  repositoryId: number,
  one: string,
  other: string,
  beside?: number,
): Promise<string | undefined> {
  const args = ['merge-base', '--end-of-options', one, other];
  const { code, stdout, stderr } = await git.run(repositoryId, args, undefined, objectsOf(git, beside));
  if (code === 0) return stdout.toString().trim();
  if (code === 1) return undefined;
  throw new Error(`merge-base of ${one} and ${other} failed: ${stderr}`);
}

/** Merges two commits with related histories, without a work tree and without leaving anything in the repository. */
export async function tryMerge(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
): Promise<MergedTree> {
  if (!git.hasUnbufferedMerges) return await mergeOnce(git, repositoryId, ours, theirs);
  return await onceMore(async () => {
    const conversation = await git.converse(repositoryId, 'trials');
    return await conversation.ask(`${ours} ${theirs}\n`, takeMergedTree);
  });
}

/**
 * Merges two commits that merge without conflicts and writes the merged trees and the commit made of them, all on
 * the disk when it returns. They are on no branch yet. Not twice at once in one repository.
 */
export async function writeMerge(
  git: Git,
  repositoryId: number,
  { ours, theirs }: { ours: string; theirs: string },
  toCommit: (tree: string) => GitObject,
): Promise<GitObject> {
  if (!git.hasUnbufferedMerges) {
    const commit = toCommit(clean(await mergeOnce(git, repositoryId, ours, theirs)));
    await writeObject(git, repositoryId, commit);
    return commit;
  }
  return await onceMore(async () => {
    const conversation = await git.converse(repositoryId, 'merges');
    using _held = conversation.hold();
    const commit = toCommit(clean(await conversation.ask(`${ours} ${theirs}\n`, takeMergedTree)));
    // Together, because the disk then flushes once for all of them.
    await Promise.all([
      adoptObjects(git, repositoryId, conversation.quarantine as string),
      writeObject(git, repositoryId, commit),
    ]);
    return commit;
  });
}

function clean({ tree, conflicts }: MergedTree): string {
  if (conflicts.length > 0)
    throw new Error(`a merge that was clean has conflicts now: ${conflicts.join(', ')}`);
  return tree;
}

/** Idle processes are ended, and the same merge twice is the same merge: once more, with a new process. */
async function onceMore<T>(merge: () => Promise<T>): Promise<T> {
  try {
    return await merge();
  } catch (error) {
    if (!(error instanceof ConversationEnded)) throw error;
    return await merge();
  }
}

/** One process for each merge, where none can be kept: it prints `<tree>\0`, and after conflicts `<file>\0…`. */
async function mergeOnce(git: Git, repositoryId: number, ours: string, theirs: string): Promise<MergedTree> {
  const options = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs];
  const { stdout, stderr } = await git.run(repositoryId, options);
  const [tree = '', ...files] = stdout.toString().split('\0');
  // The exit code does not tell: it is 1 for conflicts and for commits that do not exist.
  if (!/^[0-9a-f]{40,64}$/.test(tree))
    throw new Error(`merge-tree of ${ours} and ${theirs} failed: ${stderr}`);
  return { tree, conflicts: [...new Set(files.filter((file) => file !== ''))] };
}

/** `1\0<tree>\0\0` is clean, `0\0<tree>\0<file>\0…\0` has conflicts. */
const takeMergedTree: TakeAnswer<MergedTree> = (received) => {
  const end = received.indexOf('\0\0', 2 + 40);
  if (end === -1) return undefined;
  const [, tree = '', ...conflicts] = received.toString('utf8', 0, end).split('\0');
  return { answer: { tree, conflicts: [...new Set(conflicts)] }, length: end + 2 };
};

/** Whether a branch that is at `tip` has a commit; a commit that was never written is on no branch. */
export async function hasCommit(
  git: Git,
  repositoryId: number,
  tip: string,
  commit: string,
): Promise<boolean> {
  const options = ['merge-base', '--is-ancestor', '--end-of-options', commit, tip];
  const { code, stderr } = await git.run(repositoryId, options);
  if (code === 0) return true;
  if (code === 1 || /Not a valid commit name|not a valid object/i.test(stderr)) return false;
  throw new Error(`merge-base --is-ancestor failed: ${stderr}`);
}
