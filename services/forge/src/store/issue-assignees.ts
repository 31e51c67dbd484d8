import type { Tx } from '@croft/sql';

/** The assignees of several issues, each in the order they were given. */
export async function mapByIssues(tx: Tx, issueIds: readonly number[]): Promise<Map<number, number[]>> {
  const rows = await tx.rows<{ issue_id: number; user_ids: number[] }>`
    select issue_id, array_agg(user_id::int order by position) as user_ids
    from :schema.issue_assignees where issue_id = any(${issueIds}::bigint[]) group by issue_id`;
  return new Map(rows.map((row) => [row.issue_id, row.user_ids]));
}

/** Replaces the assignees of an issue. */
export async function replace(tx: Tx, issueId: number, userIds: readonly number[]): Promise<void> {
  await tx.run`delete from :schema.issue_assignees where issue_id = ${issueId}`;
  if (userIds.length === 0) return;
  await tx.run`
    insert into :schema.issue_assignees (issue_id, user_id, position)
    select ${issueId}, user_id, position from unnest(${userIds}::bigint[]) with ordinality as given (user_id, position)`;
}
