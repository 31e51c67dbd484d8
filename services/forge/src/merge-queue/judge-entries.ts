import type { Context } from '../context.ts';
import { judgeStatuses, type QueuedPull } from '../rules/pulls/merge-queue.ts';
import { statusWork } from '../rules/pulls/requirements.ts';
import type { QueueEntry } from '../store/pulls/merge-queue.ts';
import * as commitStatuses from '../store/repositories/commit-statuses.ts';
import type { QueueOptions } from './queue-terms.ts';

/** What is known of the entries of a queue, with what the checks say of their merges: one statement for all. */
export async function judgeEntries(
  { database }: Context,
  repositoryId: number,
  { required }: Pick<QueueOptions, 'required'>,
  entries: readonly QueueEntry[],
): Promise<QueuedPull[]> {
  const commits = entries.flatMap(({ row }) => row.commit_sha ?? []);
  const reported =
    required.length === 0 || commits.length === 0
      ? []
      : await commitStatuses.listLatestOf(database.autocommit(), repositoryId, commits);
  const work = statusWork();
  return entries.map(({ row, pull }) => {
    const { onto_sha: onto, commit_sha: commit, made_at: at } = row;
    return {
      queuedHead: row.head_sha,
      isOpen: pull.closed_at === null,
      wasOut: row.ended,
      base: pull.base_branch,
      head: pull.head_sha,
      made: onto === null || commit === null || at === null ? undefined : { onto, commit, at },
      verdict: judgeStatuses(
        required,
        reported.filter(({ sha }) => sha === commit),
        work,
      ),
    };
  });
}
