import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { isWorkInProgress } from '../rules/mergeable.ts';
import type { IssueWithPull } from '../store/issues.ts';
import type { RepositoryRow } from '../store/repositories.ts';
import { issueJson, type issueSchema } from './issue-json.ts';
import { loadPeople } from './load-people.ts';

/** Issues of a repository as their viewer gets them. */
export async function presentIssues(
  context: Context,
  viewer: Caller | undefined,
  repository: RepositoryRow,
  rows: readonly IssueWithPull[],
): Promise<z.output<typeof issueSchema>[]> {
  const named = rows.map((row) => ({ issueId: row.id, people: [row.poster_id] }));
  const people = await loadPeople(context, repository, named);
  return rows.map((row) =>
    issueJson(
      row,
      {
        repository,
        owner: people.owner,
        poster: people.byId(row.poster_id),
        assignees: people.assigneesOf(row.id),
        draft: row.is_pull && isWorkInProgress(row.title),
      },
      viewer,
      context.links,
    ),
  );
}
