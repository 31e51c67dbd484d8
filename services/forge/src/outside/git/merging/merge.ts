import type { Git } from '../git.ts';
import { adoptObjects, type GitObject, writeLoose } from '../objects.ts';
import { inMergeRoom, type MergedTree } from './merge-room.ts';

export { findMergeBase } from './merge-base.ts';
export type { MergedTree } from './merge-room.ts';

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
