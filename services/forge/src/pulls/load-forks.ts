import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { accessTo, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { isFromFork, readHeadTip } from './read-head.ts';

/** What answers need of the forks that pull requests come from, and of what is forked. */
export interface Forks {
  /** Undefined when it is deleted, or the viewer may not know of it. */
  repositoryOf(pull: PullWithIssue): VisibleRepository | undefined;
  /** What a repository is a fork of; undefined likewise, and where it is none. */
  parentOf(fork: VisibleRepository): VisibleRepository | undefined;
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
  found: VisibleRepository,
  pulls: readonly PullWithIssue[],
): Promise<Forks> {
  const fromForks = pulls.filter(isFromFork);
  const forks = fromForks.flatMap((pull) => pull.head_repository_id ?? []);
  const own = found.repository;
  const ids = [...new Set([...forks, own.fork_of].filter((id) => id !== null))];
  if (ids.length === 0)
    return { repositoryOf: () => undefined, parentOf: () => undefined, tipOf: () => undefined };
  const [only, ...others] = pulls;
  const [rows, exactTip] = await Promise.all([
    repositories.listWithParents(context.database.autocommit(), ids, viewer?.userId ?? 0),
    only && others.length === 0 && isFromFork(only) ? readHeadTip(context, only) : undefined,
  ]);
  const known = new Map(
    rows.flatMap((row) => accessTo(row, viewer) ?? []).map((one) => [one.repository.id, one]),
  );
  // Who sees its pull requests knows of it.
  known.set(own.id, found);
  const repositoryOf = ({ head_repository_id: id }: PullWithIssue) => {
    const one = known.get(id ?? 0);
    return one && mayRead(one, 'code') ? one : undefined;
  };
  return {
    repositoryOf,
    parentOf: ({ repository }) => known.get(repository.fork_of ?? 0),
    tipOf: (pull) =>
      others.length === 0 && repositoryOf(pull) !== undefined
        ? exactTip
        : pull.closed_at === null && pull.head_repository_id !== null
          ? pull.head_sha
          : undefined,
  };
}
