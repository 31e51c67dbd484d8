import type { Git } from '../git.ts';
import { inTurn } from '../reading/turns.ts';
import { inMergeRoom, type MergeRoom } from './merge-room.ts';

/**
 * Paths in which `ours` differs from what a merge of `theirs` makes of it: more than `theirs` changed itself where git
 * follows a rename, or the two have several merge bases. For commits with related histories; nothing is left in the
 * repository.
 * @param beside id of another repository, whose objects are needed as well
 */
export async function listMergedPaths(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
  beside?: number,
): Promise<string[]> {
  const list = async (room: MergeRoom) => {
    const { tree } = await room.merge(ours, theirs);
    const options = ['-r', '-z', '--name-only', '--no-renames', '--no-ext-diff'];
    const args = ['diff-tree', ...options, ours, tree];
    const listed = await inTurn(git, () => git.output(repositoryId, args, undefined, room.environment));
    return listed
      .toString()
      .split('\0')
      .filter((path) => path !== '');
  };
  return await inMergeRoom(git, repositoryId, 'trials', ours, list, beside);
}
