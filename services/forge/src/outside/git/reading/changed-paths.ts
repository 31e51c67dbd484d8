import type { Git } from '../git.ts';
import { readRecords } from './records.ts';

/** What lists of more paths are is not asked: small trees that name one another have as many as one likes. */
export const MAX_PATHS = 200_000;
/** Nor of longer ones: 160 bytes each, if they are that many. */
export const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Paths that differ between two commits or trees; undefined when they cannot be read or are too many.
 * @param environment lets git read what is not in the repository
 */
export async function listChangedPaths(
  git: Git,
  repositoryId: number,
  from: string,
  to: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string[] | undefined> {
  const paths: string[] = [];
  const options = ['-r', '-z', '--name-only', '--no-renames', '--no-ext-diff'];
  let size = 0;
  const isTooMuch = () => paths.length > MAX_PATHS || size > MAX_BYTES;
  const take = (path: Buffer) => {
    paths.push(path.toString());
    size += path.length;
    return !isTooMuch();
  };
  const args = ['diff-tree', ...options, from, to];
  const ended = await readRecords(git, repositoryId, args, take, { environment });
  return ended === 'done' && !isTooMuch() ? paths : undefined;
}
