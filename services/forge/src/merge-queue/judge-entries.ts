import type { Context } from '../context.ts';
import type { Git } from '../outside/git/git.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { isFromFork } from '../pulls/read-head.ts';
import { judgeStatuses, type QueuedPull } from '../rules/pulls/merge-queue.ts';
import { statusWork } from '../rules/pulls/requirements.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as commitStatuses from '../store/repositories/commit-statuses.ts';
import type { QueueOptions } from './queue-terms.ts';

/** What is known of the entries of a queue, with what the checks say of their merges: one statement for all. */
export async function judgeEntries(
  { database, git }: Context,
  repositoryId: number,
  { required }: Pick<QueueOptions, 'required'>,
  entries: readonly QueueEntry[],
): Promise<QueuedPull[]> {
  const commits = entries.flatMap(({ row }) => row.commit_sha ?? []);
  const reported =
    required.length === 0 || commits.length === 0
      ? []
      : await commitStatuses.listLatestOf(database.autocommit(), repositoryId, commits);
  const heads = await findUnrecorded(git, repositoryId, entries);
  const work = statusWork();
  return entries.map((entry) => {
    const { row, pull } = entry;
    const { onto_sha: onto, commit_sha: commit, made_at: at } = row;
    return {
      ...standingOf(entry, heads.get(pull.id)),
      made: onto === null || commit === null || at === null ? undefined : { onto, commit, at },
      verdict: judgeStatuses(
        required,
        reported.filter(({ sha }) => sha === commit),
        work,
      ),
    };
  });
}

/** How an entry stands to its pull request. @param tip where its head branch is, where the row says otherwise */
export const standingOf = ({ row, pull }: QueueEntry, tip: string | undefined) => ({
  queuedHead: row.head_sha,
  isOpen: pull.closed_at === null,
  wasOut: row.ended,
  base: pull.base_branch,
  head: tip ?? pull.head_sha,
});

/** Where head branches are whose rows say otherwise: what was queued is the branch, and the push that took it there may be recorded later. */
export async function findUnrecorded(
  git: Git,
  repositoryId: number,
  entries: readonly QueueEntry[],
): Promise<Map<number, string | undefined>> {
  const behind = entries
    .filter(({ row, pull }) => pull.head_sha !== row.head_sha && !isFromFork(pull))
    .map(({ pull }) => pull);
  const refs = behind.map((pull) => branchRef(pull.head_branch));
  const tips = await readRefs(git, repositoryId, refs);
  return new Map(behind.map(({ id }, index) => [id, tips[index]]));
}
