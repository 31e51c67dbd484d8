import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { PullCard } from '../store/pulls/pulls.ts';
import { pullJson, type pullSchema } from './pull-json.ts';

/** Pull requests of a repository as their viewer gets them: one statement and one look at the branches for all. */
export async function presentPulls(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  rows: readonly PullCard[],
): Promise<z.output<typeof pullSchema>[]> {
  const { repository } = found;
  const branches = [...new Set(rows.flatMap((row) => [row.base_branch, row.head_branch]))];
  const named = rows.flatMap((row) => [row.poster_id, row.merged_by, ...row.assignee_ids]);
  const [people, tips] = await Promise.all([
    loadPeople(context, named, viewer === undefined ? [] : [viewer.user]),
    readRefs(context.git, repository.id, branches.map(branchRef)),
  ]);
  const tipOf = new Map(branches.map((branch, index) => [branch, tips[index]]));
  return await Promise.all(
    rows.map(async (row) => {
      const baseTip = tipOf.get(row.base_branch);
      const headTip = tipOf.get(row.head_branch);
      const open = row.merged_at === null && baseTip !== undefined;
      const around = {
        found,
        poster: people.byId(row.poster_id),
        merger: row.merged_by === null ? undefined : people.byId(row.merged_by),
        assignees: row.assignee_ids.map((id) => people.byId(id)),
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
