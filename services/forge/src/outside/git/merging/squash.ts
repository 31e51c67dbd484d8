import type { Git } from '../git.ts';
import { adoptObjects, type GitObject, writeQuarantined } from '../objects.ts';
import { readSmallObjects } from '../reading/objects.ts';
import { parseCommit } from '../reading/parse-commit.ts';
import type { Made } from './merge.ts';
import { inMergeRoom } from './merge-room.ts';
import type { MergedTree } from './merged-tree.ts';
import { pickTree } from './rebase.ts';

/** A change that is to go elsewhere: what makes one commit another, and where it is to be made. */
export interface Change {
  from: string;
  to: string;
  onto: string;
}

/**
 * Puts all that changes from one commit to another onto a third, as one commit; whatever else their histories have in
 * common does not matter. All on the disk when it returns, on no branch yet. Not twice at once in one repository.
 */
export async function writeSquash(
  git: Git,
  repositoryId: number,
  { from, to, onto }: Change,
  toCommit: (tree: string) => GitObject,
): Promise<Made<GitObject>> {
  const trees = await readSides(git, repositoryId, { from, to, onto });
  return await inMergeRoom(git, repositoryId, 'merges', onto, async (room) => {
    const { tree, isClean, conflicts } = await pickTree(room, trees);
    if (!isClean) return { conflicts };
    const made = toCommit(tree);
    await writeQuarantined(room.objects, made);
    await adoptObjects(git, repositoryId, room.objects);
    return { made };
  });
}

/** The tree that this would have, or the files in which it does not fit; nothing stays on the disk. */
export async function trySquash(git: Git, repositoryId: number, change: Change): Promise<MergedTree> {
  const trees = await readSides(git, repositoryId, change);
  return await inMergeRoom(git, repositoryId, 'trials', change.onto, (room) => pickTree(room, trees));
}

/** @throws when one of the commits cannot be read */
async function readSides(git: Git, repositoryId: number, { from, to, onto }: Change) {
  const commits = await readSmallObjects(git, repositoryId, [from, to, onto]);
  const [before, after, there] = commits.map((object) => object && parseCommit(object).tree);
  if (before === undefined || after === undefined || there === undefined)
    throw new Error(`one of ${from}, ${to} and ${onto} cannot be read`);
  return { before, after, onto: there };
}
