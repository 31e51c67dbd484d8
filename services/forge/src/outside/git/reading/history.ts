import { Failure } from '@croft/failure';
import { LRUCache } from 'lru-cache';
import { objectsOf } from '../environment.ts';
import type { Git } from '../git.ts';
import { inTurn } from './turns.ts';

/** Which commits a list is made of. */
export interface HistoryQuery {
  /** The commit it goes back from. */
  from: string;
  /** Commits that are left out with everything before them. */
  not: readonly string[];
  /** Only commits that changed this file or folder; everything when empty. */
  path: string;
  since: Date | undefined;
  until: Date | undefined;
  /** Id of another repository, whose objects are needed as well. */
  beside?: number | undefined;
}

/** A page of commits, newest first, and how many there are in all. */
export interface HistoryPage {
  ids: string[];
  total: number;
}

/** git takes no larger number. */
const MAX_SKIP = 2 ** 31 - 1;

/** Whoever waits is answered by then; a git that goes on has the turn of somebody else. */
const TIMEOUT_MS = 9_000;
const BACKGROUND_TIMEOUT_MS = 60_000;

/** What comes before a commit never changes, so neither does its count. */
const counts = new LRUCache<string, number>({ max: 2_000 });

/**
 * A page of a history: one process, and another for the count when it is not known yet; undefined when git cannot read
 * it, damaged as it is, or nobody waits and it takes too long.
 * @throws 503 when somebody waits: to find what changed a path, git may have to look at every commit
 */
export async function listCommits(
  git: Git,
  repositoryId: number,
  query: HistoryQuery,
  page: { offset: number; limit: number; isWaitedFor?: boolean },
): Promise<HistoryPage | undefined> {
  const args = argumentsOf(query);
  const key = `${git.folderOf(repositoryId)} ${args.join(' ')}`;
  const counted = counts.get(key) ?? run(['--count']).then((lines) => lines && Number(lines[0]));
  const listed = page.offset > MAX_SKIP ? [] : run([`--skip=${page.offset}`, `--max-count=${page.limit}`]);
  const [total, ids] = await Promise.all([counted, listed]);
  if (total === undefined || ids === undefined) return undefined;
  counts.set(key, total);
  return { ids, total };

  async function run(options: string[]): Promise<string[] | undefined> {
    const { isWaitedFor = true } = page;
    const timeoutMs = isWaitedFor ? TIMEOUT_MS : BACKGROUND_TIMEOUT_MS;
    const environment = { GIT_LITERAL_PATHSPECS: '1', ...objectsOf(git, query.beside) };
    const { code, stdout } = await inTurn(git, () =>
      git.run(repositoryId, ['rev-list', ...options, ...args], undefined, environment, { timeoutMs }),
    );
    if (code === null && isWaitedFor) throw tooLong();
    if (code !== 0) return undefined;
    return stdout
      .toString('latin1')
      .split('\n')
      .filter((line) => line !== '');
  }
}

const tooLong = () =>
  new Failure('unavailable', 'history_too_long', 'it took too long to read the history', {
    retryAfterSeconds: 5,
  });

function argumentsOf({ from, not, path, since, until }: HistoryQuery): string[] {
  return [
    // The options that take times as people write them take none in the future.
    ...(since === undefined ? [] : [`--max-age=${Math.floor(since.getTime() / 1000)}`]),
    ...(until === undefined ? [] : [`--min-age=${Math.floor(until.getTime() / 1000)}`]),
    from,
    ...not.map((commit) => `^${commit}`),
    '--',
    ...(path === '' ? [] : [path]),
  ];
}
