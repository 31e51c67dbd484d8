import type { Git } from '../git.ts';
import { adoptObjects, type GitObject, writeObjects, writeQuarantined } from '../objects.ts';
import { keepNode, readNode, recallNode } from '../reading/commit-nodes.ts';
import { type CombinedTree, combineTrees } from './combine-trees.ts';
import { listMergeBases } from './merge-base.ts';
import { inMergeRoom, type MergedTree } from './merge-room.ts';
import { readTrees } from './tree-entries.ts';

export { findMergeBase } from './merge-base.ts';
export type { MergedTree } from './merge-room.ts';

/** Merges two commits with related histories, without a work tree and without leaving anything in the repository. */
export async function tryMerge(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
): Promise<MergedTree> {
  const combined = await combineCommits(git, repositoryId, ours, theirs);
  if (combined !== undefined) return { tree: combined.tree, conflicts: [] };
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
  const combined = await combineCommits(git, repositoryId, ours, theirs);
  if (combined !== undefined) {
    const commit = toCommit(combined.tree);
    await writeObjects(git, repositoryId, [...combined.objects, commit]);
    keepNode(commit);
    return commit;
  }
  return await inMergeRoom(git, repositoryId, 'merges', ours, async (room) => {
    const { tree, conflicts } = await room.merge(ours, theirs);
    if (conflicts.length > 0)
      throw new Error(`a merge that was clean has conflicts now: ${conflicts.join(', ')}`);
    const commit = toCommit(tree);
    await writeQuarantined(room.objects, commit);
    await adoptObjects(git, repositoryId, room.objects);
    return commit;
  });
}

/** The merged trees of two commits where they are plain; with several merge bases git makes one of those first. */
async function combineCommits(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
): Promise<CombinedTree | undefined> {
  // Asked for together with the commits that name them, which halves the way.
  const unread = [ours, theirs].filter((id) => recallNode(id) === undefined).map((id) => `${id}^{tree}`);
  const [[mergeBase, ...others]] = await Promise.all([
    listMergeBases(git, repositoryId, ours, theirs),
    readTrees(git, repositoryId, unread),
  ]);
  if (mergeBase === undefined || others.length > 0) return undefined;
  const commits = [mergeBase, ours, theirs];
  const nodes = await Promise.all(commits.map((id) => readNode(git, repositoryId, id)));
  const [base, one, other] = nodes.map((node) => node?.tree);
  if (base === undefined || one === undefined || other === undefined) return undefined;
  return await combineTrees(git, repositoryId, { base, ours: one, theirs: other });
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
