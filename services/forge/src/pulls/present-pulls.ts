import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import type { PullWithIssue } from '../store/pulls.ts';
import type { RepositoryRow } from '../store/repositories.ts';
import { pullJson, type pullSchema } from './pull-json.ts';

/** Pull requests of a repository as their viewer gets them: two statements and one look at the branches for all. */
export async function presentPulls(
  context: Context,
  viewer: Caller | undefined,
  repository: RepositoryRow,
  rows: readonly PullWithIssue[],
): Promise<z.output<typeof pullSchema>[]> {
  const branches = [...new Set(rows.flatMap((row) => [row.base_branch, row.head_branch]))];
  const named = rows.map((row) => ({
    issueId: row.issue_id,
    people: [row.poster_id, ...(row.merged_by === null ? [] : [row.merged_by])],
  }));
  const [people, tips] = await Promise.all([
    loadPeople(context, repository, named),
    readRefs(context.git, repository.id, branches.map(branchRef)),
  ]);
  const tipOf = new Map(branches.map((branch, index) => [branch, tips[index]]));
  return await Promise.all(
    rows.map(async (row) => {
      const baseTip = tipOf.get(row.base_branch);
      const headTip = tipOf.get(row.head_branch);
      const open = row.merged_at === null && baseTip !== undefined;
      const around = {
        repository,
        owner: people.owner,
        poster: people.byId(row.poster_id),
        merger: row.merged_by === null ? undefined : people.byId(row.merged_by),
        assignees: people.assigneesOf(row.issue_id),
        baseTip,
        headTip,
        outlook: open
          ? await context.outlooks.of(repository.id, baseTip, headTip ?? row.head_sha)
          : undefined,
      };
      return pullJson(row, around, viewer, context.links);
    }),
  );
}
