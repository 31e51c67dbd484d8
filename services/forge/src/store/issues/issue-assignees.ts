import type { Tx } from '@croft/sql';

/** Replaces the assignees of an issue; whose account was deleted meanwhile is left out. */
export async function replace(tx: Tx, issueId: number, userIds: readonly number[]): Promise<void> {
  // Rows of people who stay are written anew: a statement does not see what another part of it deletes.
  await tx.run`
    with kept as (
      insert into :schema.issue_assignees (issue_id, user_id, position)
      select ${issueId}, u.id, position
      from unnest(${userIds}::bigint[]) with ordinality as given (user_id, position)
        join :schema.users u on u.id = user_id
      order by u.id for key share of u
      on conflict (issue_id, user_id) do update set position = excluded.position)
    delete from :schema.issue_assignees
    where issue_id = ${issueId} and not user_id = any(${userIds}::bigint[])`;
}
