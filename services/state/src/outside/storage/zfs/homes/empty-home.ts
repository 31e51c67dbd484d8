import { emptyFolder } from '../../vault/trees/empty-folder.ts';
import { isShownAt } from '../shown-at.ts';
import type { Tree } from '../tree.ts';
import { textOf } from './home-place.ts';

/**
 * Deletes what is in the datasets of a home. Where one is not to be seen its folder holds something else, which stays.
 * @returns what is left, one line each
 */
export async function emptyTrees(trees: readonly Tree[]): Promise<readonly string[]> {
  const systems = trees.flatMap(({ datasets }) => datasets);
  const left: string[] = [];
  const emptied = new Set<string>();
  for (const { name, path, isMounted } of [...systems].reverse()) {
    if (!isMounted) left.push(`${name} is not mounted and was left alone`);
    else if (!(await isShownAt(name, path)))
      left.push(`${textOf(path)} shows something else than ${name}, and both were left alone`);
    else {
      left.push(...(await emptyFolder(Buffer.from(path).toString('latin1'))));
      emptied.add(`${textOf(path)} is another file system and was left alone`);
    }
  }
  return left.filter((line) => !emptied.has(line));
}
