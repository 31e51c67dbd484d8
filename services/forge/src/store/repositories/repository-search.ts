import type { Tx } from '@croft/sql';
import type { RepositoryFilter } from '../../repositories/repository-filter.ts';
import { type RepositoryWithAccess, reviveAccess } from './repositories.ts';

/** A page of the repositories that the viewer may know of, and how many there are in all: one statement. */
export async function search(
  tx: Tx,
  viewer: { userId: number; seesAll: boolean; publicOnly: boolean },
  filter: RepositoryFilter,
  page: { limit: number; offset: number },
): Promise<{ total: number; rows: RepositoryWithAccess[] }> {
  const { keyword = '', reach = 'owned', ownerId = null, sort, descending } = filter;
  const rows = await tx.rows<RepositoryWithAccess & { total: number; id: number | null }>`
    with found as materialized (
      select r.id, r.owner_id, case ${sort}::text when 'alpha' then r.name_key end as text_key,
        case ${sort}::text when 'created' then extract(epoch from r.created_at)
          when 'updated' then extract(epoch from r.updated_at) when 'size' then r.size_bytes
          when 'stars' then r.stars when 'forks' then r.forks when 'id' then r.id end as number_key
      from :schema.visible_repositories(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}) r
      where (${keyword}::text = '' or case when ${filter.isTopic ?? false}::boolean then r.topics @> array[lower(${keyword})]
          else position(lower(${keyword}) in r.name_key) > 0
            or exists (select from unnest(r.topics) topic where position(lower(${keyword}) in topic) > 0)
            or (${filter.inDescription ?? false}::boolean and position(lower(${keyword}) in lower(r.description)) > 0) end)
        and (${ownerId}::bigint is null
          or (${reach}::text <> 'given' and r.owner_id = ${ownerId}::bigint)
          or (${reach}::text <> 'owned' and r.owner_id <> ${ownerId}::bigint and r.id in (
            select g.repository_id from :schema.grants g
            where g.user_id = ${ownerId}::bigint and greatest(g.level, g.code, g.issues, g.pulls) >= 1)))
        and (${filter.forkOf ?? null}::bigint is null or r.fork_of = ${filter.forkOf ?? null}::bigint)
        and (${filter.teamId ?? null}::bigint is null or exists (
          select from :schema.teams t where t.id = ${filter.teamId ?? null}::bigint and t.organization_id = r.owner_id
            and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)
            and (t.includes_all_repositories or t.level = 4 or exists (
              select from :schema.team_repositories x where x.team_id = t.id and x.repository_id = r.id))))
        and (${filter.starredBy ?? null}::bigint is null or exists (
          select from :schema.stars s where s.repository_id = r.id and s.user_id = ${filter.starredBy ?? null}::bigint))
        and (${filter.isPrivate ?? null}::boolean is null or r.private = ${filter.isPrivate ?? null}::boolean)
        and (${filter.isTemplate ?? null}::boolean is null or r.template = ${filter.isTemplate ?? null}::boolean)
        and (${filter.isArchived ?? null}::boolean is null or r.archived = ${filter.isArchived ?? null}::boolean)
        and (${filter.isFork ?? null}::boolean is null or (r.fork_of is not null) = ${filter.isFork ?? null}::boolean)
    ), ranked as (
      select id, row_number() over (order by
        case when owner_id = ${filter.firstOwnerId ?? null}::bigint then 0 else 1 end,
        case when not ${descending}::boolean then text_key end, case when ${descending}::boolean then text_key end desc,
        case when not ${descending}::boolean then number_key end, case when ${descending}::boolean then number_key end desc,
        id) as place
      from found
    ), page as (
      select * from ranked order by place limit ${page.limit} offset ${page.offset}
    )
    select (select count(*) from found) as total, r.*, to_jsonb(o) as owner, g.level as granted_level,
      g.code as granted_code, g.issues as granted_issues, g.pulls as granted_pulls, g.is_member
    from (select) one left join (page join :schema.repositories r on r.id = page.id
      join :schema.users o on o.id = r.owner_id
      cross join lateral :schema.access_of(${viewer.userId}, r.id, r.owner_id) g) on true
    order by page.place`;
  // An empty page is one row that has nothing but the total.
  const complete = rows.filter(({ id }) => id !== null);
  return { total: rows[0]?.total ?? 0, rows: complete.map(reviveAccess) };
}
