import type { Git } from '../git.ts';
import { adoptObjects, type GitObject, writeObjects, writeQuarantined } from '../objects.ts';
import { keepNode, readNode, recallNode } from '../reading/commit-nodes.ts';
import { type CombinedTree, combineTrees } from './combine-trees.ts';
import { listMergeBases, walkToMergeBases } from './merge-base.ts';
import { inMergeRoom, type MergeRoom } from './merge-room.ts';
import { cleanTree, type MergedTree } from './merged-tree.ts';
import { readTrees } from './tree-entries.ts';

export { findMergeBase } from './merge-base.ts';

/**
 * Merges two commits with related histories, without a work tree and without leaving anything in the repository.
 * @param beside id of another repository, whose objects are needed as well
 */
export async function tryMerge(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
  beside?: number,
): Promise<MergedTree> {
  const combined = beside === undefined ? await combineCommits(git, repositoryId, ours, theirs) : undefined;
  if (combined !== undefined) return cleanTree(combined.tree);
  const merge = (room: MergeRoom) => room.merge(ours, theirs);
  return await inMergeRoom(git, repositoryId, 'trials', ours, merge, beside);
}

/** A commit that is known, and on its way to the disk. */
export interface CommitUnderWay {
  id: string;
  /** Whoever gets this waits for it, whatever else goes wrong. */
  written: Promise<void>;
}

/** What was made of a merge, or the files in which the two sides do not fit. */
export type Made<Commit> =
  | { made: Commit; conflicts?: undefined }
  | { made?: undefined; conflicts: readonly string[] };

/**
 * Merges two commits with related histories and writes the merged trees and the commit made of them, all on the disk when it
 * returns. They are on no branch yet. Not twice at once in one repository.
 */
export async function writeMerge(
  git: Git,
  repositoryId: number,
  sides: MergedSides,
  toCommit: (tree: string) => GitObject,
): Promise<Made<{ id: string }>> {
  const begun = await beginMerge(git, repositoryId, sides, toCommit);
  await begun.made?.written;
  return begun;
}

/** The same, but returns as soon as the commit is known. */
export async function beginMerge(
  git: Git,
  repositoryId: number,
  { ours, theirs }: MergedSides,
  toCommit: (tree: string) => GitObject,
): Promise<Made<CommitUnderWay>> {
  const combined = await combineCommits(git, repositoryId, ours, theirs);
  if (combined !== undefined) {
    const commit = toCommit(combined.tree);
    const written = writeObjects(git, repositoryId, [...combined.objects, commit]);
    const kept = written.then(() => keepNode(commit));
    return { made: underWay(commit.id, kept) };
  }
  return await inMergeRoom(git, repositoryId, 'merges', ours, async (room) => {
    const { tree, isClean, conflicts } = await room.merge(ours, theirs);
    if (!isClean) return { conflicts };
    const commit = toCommit(tree);
    await writeQuarantined(room.objects, commit);
    await adoptObjects(git, repositoryId, room.objects);
    return { made: underWay(commit.id) };
  });
}

/** A failure is told to whoever waits; until somebody does it is nobody's fault. */
export function underWay(id: string, written: Promise<void> = Promise.resolve()): CommitUnderWay {
  written.catch(() => {});
  return { id, written };
}

/** The commits that a merge brings together: the one that is to have it, and the one it brings. */
interface MergedSides {
  ours: string;
  theirs: string;
}

/**
 * Reads a commit and its tree, for a merge that is looked at next: together with whatever else is asked now it takes no time.
 * What is not there is none of its business.
 */
export async function readAhead(git: Git, repositoryId: number, commit: string): Promise<void> {
  const tree = recallNode(commit)?.tree ?? `${commit}^{tree}`;
  await Promise.all([readNode(git, repositoryId, commit), readTrees(git, repositoryId, [tree])]);
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
  const walked = await walkToMergeBases(git, repositoryId, tip, commit);
  // What is in its history is their only merge base.
  if (walked !== undefined) return walked[0] === commit;
  const options = ['merge-base', '--is-ancestor', '--end-of-options', commit, tip];
  const { code, stderr } = await git.run(repositoryId, options);
  if (code === 0) return true;
  if (code === 1 || /Not a valid commit name|not a valid object/i.test(stderr)) return false;
  throw new Error(`merge-base --is-ancestor failed: ${stderr}`);
}
