import type { Context } from '../context.ts';
import { findMergeBase } from '../outside/git/merging/merge.ts';
import { walkNewCommits } from '../outside/git/merging/merge-base.ts';
import { listNewCommits } from '../outside/git/reading/new-commits.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import type { TimelineEntry } from '../store/issues/comments.ts';
import type { PullRow } from '../store/pulls/pulls.ts';

/** How many commits a new pull request is told to bring. */
const MAX_COMMITS = 250;

/**
 * The entry of a pull request that is new, of what it brings, as the reference has it; none where it brings nothing, or git does
 * not say what.
 */
export async function describeNew(
  { git, log }: Pick<Context, 'git' | 'log'>,
  repositoryId: number,
  { base, head }: { base: string; head: string },
): Promise<TimelineEntry[]> {
  try {
    const walked = await walkNewCommits(git, repositoryId, head, [base]);
    const ids =
      walked?.slice(0, MAX_COMMITS).reverse() ?? (await listNewCommits(git, repositoryId, head, [base]));
    return entryOfNew(ids);
  } catch (error) {
    log.warn(
      { repository: repositoryId, reason: (error as Error).message },
      'what a pull request brings is not told',
    );
    return [];
  }
}

/** The same of commits that are known, oldest first. */
export const entryOfNew = (commits: readonly string[]): TimelineEntry[] =>
  commits.length === 0 ? [] : [entry(false, commits)];

const entry = (isForced: boolean, commits: readonly string[]): TimelineEntry => ({
  kind: 'pull_push',
  details: { is_force_push: isForced, commit_ids: commits },
});

/**
 * The entry that tells in a timeline where the head of a pull request went: the commits that came, oldest first and without
 * those of the base, or both heads where commits went. As the reference has them. The head has moved whatever git says of it:
 * where it does not say what lies between, both heads are told, and where it does not say which commits came, none.
 */
export async function describePush(
  { git, log }: Context,
  { repository_id: id, head_sha: before, base_branch: baseBranch }: PullRow,
  after: string,
): Promise<TimelineEntry> {
  const orNothing = (error: unknown): undefined => {
    // A head that is damaged, a git that cannot run, or so many questions that this one did not get its turn.
    log.warn({ repository: id, reason: (error as Error).message }, 'what a push brought is not told');
  };
  const shared = await findMergeBase(git, id, before, after).catch(orNothing);
  if (shared !== before) return entry(true, [before, after]);
  const list = async () => {
    const base = await readRef(git, id, branchRef(baseBranch));
    return await listNewCommits(git, id, after, base === undefined ? [before] : [before, base]);
  };
  return entry(false, (await list().catch(orNothing)) ?? []);
}
