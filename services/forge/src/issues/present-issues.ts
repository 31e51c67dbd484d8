import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { isWorkInProgress } from '../rules/pulls/mergeable.ts';
import type { IssueAnywhere } from '../store/issues/issue-lists.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import type { UserRow } from '../store/people/users.ts';
import { issueJson, type issueSchema } from './issue-json.ts';
import { loadPeople } from './load-people.ts';

/**
 * Issues of a repository as their viewer gets them.
 * @param known accounts the caller has at hand, which are not loaded again
 */
export async function presentIssues(
  context: Context,
  viewer: Caller | undefined,
  { repository, owner }: { repository: { id: number; name: string }; owner: { login: string } },
  rows: readonly IssueWithPull[],
  known: readonly UserRow[] = [],
): Promise<z.output<typeof issueSchema>[]> {
  const home = { id: repository.id, name: repository.name, owner: owner.login };
  return await present(
    context,
    viewer,
    rows.map((row) => ({ row, home })),
    known,
  );
}

/** Issues of several repositories. */
export async function presentAnywhere(
  context: Context,
  viewer: Caller | undefined,
  rows: readonly IssueAnywhere[],
  known: readonly UserRow[] = [],
): Promise<z.output<typeof issueSchema>[]> {
  return await present(
    context,
    viewer,
    rows.map((row) => ({
      row,
      home: { id: row.repository_id, name: row.repository_name, owner: row.owner_login },
    })),
    known,
  );
}

async function present(
  context: Context,
  viewer: Caller | undefined,
  issues: readonly { row: IssueWithPull; home: { id: number; name: string; owner: string } }[],
  known: readonly UserRow[],
): Promise<z.output<typeof issueSchema>[]> {
  const ids = issues.flatMap(({ row }) => [row.poster_id, ...row.assignee_ids]);
  const people = await loadPeople(context, ids, viewer === undefined ? known : [viewer.user, ...known]);
  return issues.map(({ row, home }) =>
    issueJson(
      row,
      {
        home,
        poster: people.byId(row.poster_id),
        assignees: row.assignee_ids.map((id) => people.byId(id)),
        draft: row.is_pull && isWorkInProgress(row.title),
      },
      viewer,
      context.links,
    ),
  );
}
