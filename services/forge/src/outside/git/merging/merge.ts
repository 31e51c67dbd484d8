import { objectsOf } from '../environment.ts';
import type { Git } from '../git.ts';
import { adoptObjects, type GitObject, writeLoose } from '../objects.ts';
import { inMergeRoom, type MergedTree } from './merge-room.ts';

export type { MergedTree } from './merge-room.ts';

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
  return await inMergeRoom(git, repositoryId, 'trials', ours, (room) => room.merge(ours, theirs));
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
  return await inMergeRoom(git, repositoryId, 'merges', ours, async (room) => {
    const { tree, conflicts } = await room.merge(ours, theirs);
    if (conflicts.length > 0)
      throw new Error(`a merge that was clean has conflicts now: ${conflicts.join(', ')}`);
    const commit = toCommit(tree);
    // The disk flushes once for all of them.
    await writeLoose(room.objects, commit, { flush: false });
    await adoptObjects(git, repositoryId, room.objects);
    return commit;
  });
}

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
