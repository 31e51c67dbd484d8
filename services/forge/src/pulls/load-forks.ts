import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { accessTo, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { isFromFork, readHeadTip } from './read-head.ts';

/** What answers need of the forks that pull requests come from. */
export interface Forks {
  /** Undefined when it is deleted, or the viewer may not know of it. */
  repositoryOf(pull: PullWithIssue): VisibleRepository | undefined;
  /** Where the head branch is now; undefined when it is gone. */
  tipOf(pull: PullWithIssue): string | undefined;
}

/**
 * Loads them: one statement. A look at the branches of a fork takes a process, so it is for a single pull request only: in
 * lists an open one is where its row says, as it follows its head at once, and a closed one where its own ref is.
 */
export async function loadForks(
  context: Context,
  viewer: Caller | undefined,
  pulls: readonly PullWithIssue[],
): Promise<Forks> {
  const fromForks = pulls.filter(isFromFork);
  const ids = [...new Set(fromForks.flatMap((pull) => pull.head_repository_id ?? []))];
  if (ids.length === 0) return { repositoryOf: () => undefined, tipOf: () => undefined };
  const [only, ...others] = pulls;
  const [rows, exactTip] = await Promise.all([
    repositories.listByIds(context.database.autocommit(), ids, viewer?.userId ?? 0),
    only && others.length === 0 ? readHeadTip(context, only) : undefined,
  ]);
  const visible = rows.flatMap((row) => accessTo(row, viewer) ?? []).filter((one) => mayRead(one, 'code'));
  const repositoryOf = new Map(visible.map((one) => [one.repository.id, one]));
  return {
    repositoryOf: (pull) => repositoryOf.get(pull.head_repository_id ?? 0),
    tipOf: (pull) =>
      others.length === 0 && repositoryOf.has(pull.head_repository_id ?? 0)
        ? exactTip
        : pull.closed_at === null && pull.head_repository_id !== null
          ? pull.head_sha
          : undefined,
  };
}
