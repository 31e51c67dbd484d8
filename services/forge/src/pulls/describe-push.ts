import type { Context } from '../context.ts';
import { GitFailed } from '../outside/git/git-failed.ts';
import { findMergeBase } from '../outside/git/merging/merge.ts';
import { listNewCommits } from '../outside/git/reading/new-commits.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import type { TimelineEntry } from '../store/issues/comments.ts';
import type { PullRow } from '../store/pulls/pulls.ts';

/**
 * The entry that tells in a timeline where the head of a pull request went: the commits that came, oldest first and without
 * those of the base, or both heads where commits went. As the reference has them.
 * @throws what git fails with: nothing is told then
 */
export async function describePush(
  { git }: Context,
  { repository_id: id, head_sha: before, base_branch: baseBranch }: PullRow,
  after: string,
): Promise<TimelineEntry> {
  const entry = (isForced: boolean, commits: readonly string[]) => ({
    kind: 'pull_push',
    details: { is_force_push: isForced, commit_ids: commits },
  });
  const shared = await findMergeBase(git, id, before, after).catch((error: unknown) => {
    // A head that cannot be read any more keeps nobody from pushing another one; a git that cannot run tells nothing of either.
    if (error instanceof GitFailed && error.isForDamage) return undefined;
    throw error;
  });
  if (shared !== before) return entry(true, [before, after]);
  const base = await readRef(git, id, branchRef(baseBranch));
  return entry(false, await listNewCommits(git, id, after, base === undefined ? [before] : [before, base]));
}
