import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import { GitFailed } from '../outside/git/git-failed.ts';
import { isTooMuch } from '../outside/git/merging/merge-alone.ts';
import { countChanges } from '../outside/git/reading/change-counts.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { repositoryJson, type repositorySchema } from '../repositories/repository-json.ts';
import type { MergeOutlook } from '../rules/pulls/mergeable.ts';
import type { UserRow } from '../store/people/users.ts';
import type { PullCard } from '../store/pulls/pulls.ts';
import { type Forks, loadForks } from './load-forks.ts';
import { pullJson, type pullSchema } from './pull-json.ts';
import { isFromFork } from './read-head.ts';

/**
 * Pull requests of a repository as their viewer gets them: a statement for the people and one for forks and their parents, a look at the
 * branches, and a process where changes are to be counted that never were before; however many pull requests there are.
 * @param known accounts the caller has at hand, which are not loaded again
 */
export async function presentPulls(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  rows: readonly PullCard[],
  known: readonly UserRow[] = [],
): Promise<z.output<typeof pullSchema>[]> {
  const named = rows.flatMap((row) => [
    row.poster_id,
    row.merged_by,
    ...row.assignee_ids,
    ...row.reviewer_ids,
  ]);
  const loading = loadForks(context, viewer, found, rows);
  const [people, forks, sides] = await Promise.all([
    loadPeople(context, named, viewer === undefined ? known : [viewer.user, ...known]),
    loading,
    lookAtBranches(context, found.repository.id, rows, loading),
  ]);
  const shown = new Map<VisibleRepository, z.output<typeof repositorySchema>>();
  // Nearly all are of one repository, which is most of what each pull request tells.
  const show = (one: VisibleRepository) => {
    const json =
      shown.get(one) ?? repositoryJson(one, viewer, context.links, { parent: forks.parentOf(one) });
    shown.set(one, json);
    return json;
  };
  return rows.map((row, index) => {
    const head = row.topic === null && isFromFork(row) ? forks.repositoryOf(row) : found;
    const around = {
      found,
      repo: show(found),
      headRepo: head && show(head),
      poster: people.byId(row.poster_id),
      merger: row.merged_by === null ? undefined : people.byId(row.merged_by),
      assignees: row.assignee_ids.map((id) => people.byId(id)),
      reviewers: row.reviewer_ids.map((id) => people.byId(id)),
      ...(sides[index] as Sides),
    };
    return pullJson(row, around, viewer, context.links);
  });
}

type Sides = Pick<Parameters<typeof pullJson>[1], 'baseTip' | 'headTip' | 'outlook' | 'counts'>;

/** Where both branches of each pull request are, and what that means. */
async function lookAtBranches(
  { git, outlooks }: Context,
  repositoryId: number,
  rows: readonly PullCard[],
  loading: Promise<Forks>,
): Promise<Sides[]> {
  const named = rows.flatMap((row) => [row.base_branch, ...(isFromFork(row) ? [] : [row.head_branch])]);
  const branches = [...new Set(named)];
  const [tips, forks] = await Promise.all([readRefs(git, repositoryId, branches.map(branchRef)), loading]);
  const tipOf = new Map(branches.map((branch, index) => [branch, tips[index]]));
  const looked = await Promise.all(
    rows.map(async (row) => {
      const baseTip = tipOf.get(row.base_branch);
      const headTip = isFromFork(row) ? forks.tipOf(row) : tipOf.get(row.head_branch);
      // Of a fork, only what it was asked to take is here.
      const to = row.merged_at === null && !isFromFork(row) ? (headTip ?? row.head_sha) : row.head_sha;
      let outlook: MergeOutlook | undefined;
      if (row.merged_at === null && baseTip !== undefined)
        outlook = await outlooks.of(repositoryId, baseTip, to).catch(unlessUnmergeable);
      const from = row.merge_base ?? outlook?.mergeBase ?? baseTip;
      return { side: { baseTip, headTip, outlook }, range: from === undefined ? undefined : { from, to } };
    }),
  );
  const ranges = looked.map(({ range }) => range);
  const counts = await countChanges(git, repositoryId, ranges);
  return looked.map(({ side }, index) => ({ ...side, counts: counts[index] }));
}

/**
 * What git cannot merge, for want of memory now or of an object that is lost, can be read all the same, as what is not to be
 * merged, and so can what is in a list with it; whoever merges is told why.
 */
function unlessUnmergeable(error: unknown): MergeOutlook {
  if (!isTooMuch(error) && !(error instanceof GitFailed && error.isForDamage)) throw error;
  return { mergeBase: undefined, outcome: 'conflicts', conflicts: [] };
}
