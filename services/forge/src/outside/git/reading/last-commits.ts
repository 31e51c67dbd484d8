import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Git } from '../git.ts';
import { momentOf } from './parse-commit.ts';
import { readRecords } from './records.ts';

/** What an old repository cannot tell in this time stays unknown. */
const TIMEOUT_MS = 3_000;

/** The commit that last changed something. */
export interface LastCommit {
  id: string;
  authored: Date;
  committed: Date;
}

/** By what was asked; what lies behind a commit does not change. Their size is the number of names. */
const known = new LRUCache<string, ReadonlyMap<string, LastCommit>>({
  maxSize: 200_000,
  sizeCalculation: (names) => names.size + 1,
});

/** What is looked for: names, and which of them a path that changed belongs to. */
interface Wanted {
  commit: string;
  /** Files and folders outside of which nothing is looked at; none is everywhere. */
  within: readonly string[];
  names: readonly string[];
  readonly namesOf: (path: string) => readonly string[];
}

/**
 * The commit that last changed each entry of a folder: one process for all. Those not found in time are missing.
 * @param folder empty for the root
 * @param names all there are
 */
export async function findLastCommits(
  git: Git,
  repositoryId: number,
  commit: string,
  folder: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, LastCommit>> {
  const skip = folder === '' ? 0 : folder.length + 1;
  return await find(git, repositoryId, `in ${folder}`, {
    commit,
    within: folder === '' ? [] : [folder],
    names,
    namesOf: (path) => [path.slice(skip).split('/', 1)[0] ?? ''],
  });
}

/** The same for some files and folders, each under its path. */
export async function findLastCommitsOf(
  git: Git,
  repositoryId: number,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, LastCommit>> {
  if (paths.length === 0) return new Map();
  // Whoever asks may ask for anything: what is kept is as short for long names.
  const question = createHash('sha1')
    .update([...paths].sort().join('\0'))
    .digest('hex');
  return await find(git, repositoryId, `of ${question}`, {
    commit,
    within: paths,
    names: paths,
    namesOf: (path) => paths.filter((each) => path === each || path.startsWith(`${each}/`)),
  });
}

async function find(
  git: Git,
  repositoryId: number,
  question: string,
  { commit, within, names, namesOf }: Wanted,
): Promise<ReadonlyMap<string, LastCommit>> {
  const key = `${git.folderOf(repositoryId)} ${commit} ${question}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const wanted = new Set(names);
  const found = new Map<string, LastCommit>();
  let current: LastCommit | undefined;
  let isPath = false;
  // A merge counts where it differs from all its parents. `-z` puts a line break before the first change of a commit.
  const options = [
    '-z',
    '--format=%H %at %ct',
    '-c',
    '--raw',
    '-r',
    '--no-renames',
    '--no-color',
    '--no-ext-diff',
  ];
  const ended = await readRecords(
    git,
    repositoryId,
    ['log', ...options, commit, '--', ...within],
    (record) => {
      if (isPath) {
        isPath = false;
        for (const name of namesOf(record.toString()))
          if (current !== undefined && wanted.delete(name)) found.set(name, current);
        return wanted.size > 0;
      }
      const text = record.toString('latin1').trimStart();
      if (text.startsWith(':')) isPath = true;
      else if (text !== '') current = parseLine(text);
      return true;
    },
    { timeoutMs: TIMEOUT_MS },
  );
  if (ended === 'done') known.set(key, found);
  return found;
}

/** `id authored committed`, the times in seconds; git leaves out one that it cannot read. */
function parseLine(text: string): LastCommit {
  const [id = '', authored = '', committed = ''] = text.split(' ');
  return { id, authored: momentOf(Number(authored)), committed: momentOf(Number(committed)) };
}
