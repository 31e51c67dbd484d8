import { type Git, quarantined } from '../git.ts';
import { inTurn } from '../reading/turns.ts';
import { inMergeRoom } from './merge-room.ts';

/**
 * Paths in which `ours` differs from what a merge of `theirs` makes of it: more than `theirs` changed itself where git
 * follows a rename, or the two have several merge bases. For commits with related histories; nothing is left in the
 * repository.
 */
export async function listMergedPaths(
  git: Git,
  repositoryId: number,
  ours: string,
  theirs: string,
): Promise<string[]> {
  return await inMergeRoom(git, repositoryId, 'trials', ours, async (room) => {
    const { tree } = await room.merge(ours, theirs);
    const environment = quarantined(git.folderOf(repositoryId), room.objects);
    const options = ['-r', '-z', '--name-only', '--no-renames', '--no-ext-diff'];
    const args = ['diff-tree', ...options, ours, tree];
    const listed = await inTurn(git, () => git.output(repositoryId, args, undefined, environment));
    return listed
      .toString()
      .split('\0')
      .filter((path) => path !== '');
  });
}
