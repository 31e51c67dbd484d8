import type { Tx } from '@croft/sql';

/** Replaces the assignees of an issue. */
export async function replace(tx: Tx, issueId: number, userIds: readonly number[]): Promise<void> {
  // Rows of people who stay are written anew: a statement does not see what another part of it deletes.
  await tx.run`
    with kept as (
      insert into :schema.issue_assignees (issue_id, user_id, position)
      select ${issueId}, user_id, position
      from unnest(${userIds}::bigint[]) with ordinality as given (user_id, position)
      on conflict (issue_id, user_id) do update set position = excluded.position)
    delete from :schema.issue_assignees
    where issue_id = ${issueId} and not user_id = any(${userIds}::bigint[])`;
}
