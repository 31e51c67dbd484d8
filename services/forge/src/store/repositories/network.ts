import type { Tx } from '@croft/sql';
import { type RepositoryWithAccess, reviveAccess } from './repositories.ts';

/** What the repositories of an owner were forked from, in the order in which several are changed. */
export async function listOriginals(tx: Tx, ownerId: number): Promise<number[]> {
  const rows = await tx.rows<{ id: number }>`
    select distinct fork_of as id from :schema.repositories
    where owner_id = ${ownerId} and fork_of is not null order by fork_of`;
  return rows.map(({ id }) => id);
}

/**
 * Repositories of an owner that go back to the same original as a repository, which may be among them; those first that
 * are forked from it, or it from them.
 * @param userId who wants to know; 0 is nobody
 */
export async function list(
  tx: Tx,
  sought: { repositoryId: number; owner: string; repo: string | undefined },
  userId: number,
): Promise<RepositoryWithAccess[]> {
  const { repositoryId, owner, repo = null } = sought;
  const rows = await tx.rows<RepositoryWithAccess>`
    with recursive ancestors as (
      select id, fork_of from :schema.repositories where id = ${repositoryId}
      union select r.id, r.fork_of from ancestors a join :schema.repositories r on r.id = a.fork_of
    ), related as (
      select id from ancestors where fork_of is null
      union select r.id from related x join :schema.repositories r on r.fork_of = x.id
    )
    select r.*, to_jsonb(o) as owner, g.level as granted_level, g.code as granted_code, g.issues as granted_issues,
      g.pulls as granted_pulls, g.is_member
    from related x join :schema.repositories r on r.id = x.id join :schema.users o on o.id = r.owner_id
      cross join lateral :schema.access_of(${userId}, r.id, r.owner_id) g
    where o.login_key = lower(${owner}) and (${repo}::text is null or r.name_key = lower(${repo}::text))
      and r.state = 'ready'
    order by r.id <> ${repositoryId}, r.fork_of is distinct from ${repositoryId},
      r.id is distinct from (select fork_of from ancestors where id = ${repositoryId}), r.id
    limit 50`;
  return rows.map(reviveAccess);
}
