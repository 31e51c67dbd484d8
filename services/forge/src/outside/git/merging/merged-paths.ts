import type { Git } from '../git.ts';
import { listChangedPaths } from '../reading/changed-paths.ts';
import { inMergeRoom, type MergeRoom } from './merge-room.ts';

/**
 * Paths in which `ours` differs from what a merge of `theirs` makes of it: more than `theirs` changed itself where git
 * follows a rename, or the two have several merge bases. For commits with related histories; nothing is left in the
 * repository. Undefined when they cannot be read or are too many.
 * @param beside id of another repository, whose objects are needed as well
 */
export async function listMergedPaths(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
  beside?: number,
): Promise<string[] | undefined> {
  const list = async (room: MergeRoom) => {
    const { tree } = await room.merge(ours, theirs);
    return await listChangedPaths(git, repositoryId, ours, tree, room.environment);
  };
  return await inMergeRoom(git, repositoryId, 'trials', ours, list, beside);
}
