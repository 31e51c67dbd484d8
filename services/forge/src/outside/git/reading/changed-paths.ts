import type { Git } from '../git.ts';
import { readRecords } from './records.ts';

/** What lists of more paths are is not asked. */
const MAX_PATHS = 200_000;

/** Paths that differ between two commits or trees; undefined when they cannot be read or are too many. */
export async function listChangedPaths(
  git: Git,
  repositoryId: number,
  from: string,
  to: string,
): Promise<string[] | undefined> {
  const paths: string[] = [];
  const options = ['-r', '-z', '--name-only', '--no-renames', '--no-ext-diff'];
  const ended = await readRecords(git, repositoryId, ['diff-tree', ...options, from, to], (path) => {
    paths.push(path.toString());
    return paths.length <= MAX_PATHS;
  });
  return ended === 'done' && paths.length <= MAX_PATHS ? paths : undefined;
}
