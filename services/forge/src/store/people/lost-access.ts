import type { Tx } from '@croft/sql';

/** Whose access may have become less, and to what; who and what are not said are all of them. */
export interface Narrowed {
  userIds?: readonly number[];
  ownerId?: number;
  repositoryId?: number;
}

/**
 * Takes people off what they no longer reach: they are assigned to none of its issues, and do not watch it. They could do
 * neither by themselves, and who sends assignees back as he read them would be refused.
 */
export async function forget(tx: Tx, narrowed: Narrowed): Promise<void> {
  const { userIds = null, ownerId = null, repositoryId = null } = narrowed;
  await tx.run`
    with involved as (
      select w.user_id, w.repository_id from :schema.watches w
      union select a.user_id, i.repository_id from :schema.issue_assignees a join :schema.issues i on i.id = a.issue_id
    ), lost as materialized (
      select x.user_id, x.repository_id from involved x join :schema.users u on u.id = x.user_id
        join :schema.repositories r on r.id = x.repository_id join :schema.users o on o.id = r.owner_id
      where (${userIds}::bigint[] is null or x.user_id = any(${userIds}::bigint[]))
        and (${ownerId}::bigint is null or r.owner_id = ${ownerId}::bigint)
        and (${repositoryId}::bigint is null or x.repository_id = ${repositoryId}::bigint)
        and not u.is_admin
        and (r.private or (o.visibility = 'private' and not :schema.is_member(u.id, o.id)))
        and not exists (select from :schema.grants g where g.user_id = u.id and g.repository_id = r.id
          and greatest(g.level, g.code, g.issues, g.pulls) >= 1)
    ), unwatched as (
      delete from :schema.watches w using lost l where w.user_id = l.user_id and w.repository_id = l.repository_id
    )
    delete from :schema.issue_assignees a using lost l, :schema.issues i
    where i.repository_id = l.repository_id and a.issue_id = i.id and a.user_id = l.user_id`;
}
