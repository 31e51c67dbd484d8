import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { MAX_BYTES, MAX_PATHS } from './changed-paths.ts';
import { readRecords } from './records.ts';

/** A file that differs between two commits. */
export interface ChangedFile {
  path: string;
  /** Of one that was renamed. */
  previousPath: string | undefined;
  status: 'added' | 'deleted' | 'renamed' | 'changed';
  /** Lines; none of binary files. */
  additions: number;
  deletions: number;
}

/** White space that makes no difference. */
export type IgnoredSpace = 'all' | 'change' | 'eol' | 'none';

const STATUSES: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
};
const SPACE_OPTIONS: Record<IgnoredSpace, readonly string[]> = {
  all: ['-w'],
  change: ['-b'],
  eol: ['--ignore-space-at-eol'],
  none: [],
};
/** Lists that pages were read from, by their commits; so many bytes in all. */
const known = new LRUCache<string, readonly ChangedFile[]>({
  maxSize: MAX_BYTES,
  sizeCalculation: (files) => files.reduce((size, { path }) => size + path.length + FILE_BYTES, 1),
});
/** What a file takes besides its path, about. */
const FILE_BYTES = 160;

/** The files that differ between two commits, in the order of their paths; undefined when git cannot tell or they are too many. */
export async function listChangedFiles(
  git: Git,
  repositoryId: number,
  { from, to }: { from: string; to: string },
  ignoredSpace: IgnoredSpace,
): Promise<readonly ChangedFile[] | undefined> {
  const space = SPACE_OPTIONS[ignoredSpace];
  const key = `${git.folderOf(repositoryId)} ${from} ${to} ${ignoredSpace}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const options = ['-r', '-z', '-M', ...space, '--no-ext-diff', '--no-textconv', '--raw', '--numstat'];
  const args = ['diff-tree', ...options, '--end-of-options', from, to];
  const records: string[] = [];
  let [count, size] = [0, 0];
  const isTooMuch = () => count > MAX_PATHS || size > MAX_BYTES;
  const take = (record: Buffer) => {
    const text = record.toString('utf8');
    records.push(text);
    // Each file has one such record, its paths and its lines another. They come first, so that no lines are counted in vain.
    if (text.startsWith(':')) count += 1;
    size += record.length;
    return !isTooMuch();
  };
  const ended = await readRecords(git, repositoryId, args, take);
  if (ended === 'failed' || isTooMuch()) return undefined;
  const files = readFiles(records);
  known.set(key, files);
  return files;
}

/** First `:<modes> <ids> <status>` with the path behind it, or both paths; then `<added>\t<deleted>\t<path>` likewise. */
function readFiles(records: readonly string[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? '';
    if (record.startsWith(':')) {
      const status = STATUSES[record.slice(record.lastIndexOf(' ') + 1)[0] ?? ''] ?? 'changed';
      const previousPath = status === 'renamed' ? records[++at] : undefined;
      const path = records[++at] ?? '';
      files.set(path, { path, previousPath, status, additions: 0, deletions: 0 });
      continue;
    }
    const [additions, deletions, ...rest] = record.split('\t');
    // Of a renamed file both paths follow. A path may have tabs in it.
    const path = rest.join('\t') || (records[(at += 2)] ?? '');
    const file = files.get(path);
    if (file === undefined) continue;
    file.additions = Number(additions) || 0;
    file.deletions = Number(deletions) || 0;
  }
  return [...files.values()];
}
