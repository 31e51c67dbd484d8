import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { readRecords } from './records.ts';

/** What an old repository cannot tell in this time stays unknown. */
const TIMEOUT_MS = 3_000;

/** By folder, commit and path; what lies behind a commit does not change. Their size is the number of names. */
const known = new LRUCache<string, ReadonlyMap<string, string>>({
  maxSize: 200_000,
  sizeCalculation: (names) => names.size + 1,
});

/**
 * The commit that last changed each entry of a folder, or, with no names, the path itself under the empty name: one
 * process for all. Those not found in time are missing.
 * @param path the folder or file, empty for the root
 */
export async function findLastCommits(
  git: Git,
  repositoryId: number,
  commit: string,
  path: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const key = `${git.folderOf(repositoryId)} ${commit} ${names.length} ${path}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const wanted = new Set(names.length === 0 ? [''] : names);
  const found = new Map<string, string>();
  const skip = path === '' ? 0 : Buffer.byteLength(path) + 1;
  let current = '';
  let isPath = false;
  // A merge counts where it differs from all its parents. `-z` puts a line break before the first change of a commit.
  const options = ['-z', '--format=%H', '-c', '--raw', '-r', '--no-renames', '--no-color', '--no-ext-diff'];
  const args = ['log', ...options, commit, '--', ...(path === '' ? [] : [path])];
  const ended = await readRecords(
    git,
    repositoryId,
    args,
    (record) => {
      if (isPath) {
        isPath = false;
        const name = names.length === 0 ? '' : (record.subarray(skip).toString().split('/', 1)[0] ?? '');
        if (wanted.delete(name)) found.set(name, current);
        return wanted.size > 0;
      }
      const text = record.toString('latin1').trimStart();
      if (text.startsWith(':')) isPath = true;
      else if (text !== '') current = text;
      return true;
    },
    { timeoutMs: TIMEOUT_MS },
  );
  if (ended === 'done') known.set(key, found);
  return found;
}
