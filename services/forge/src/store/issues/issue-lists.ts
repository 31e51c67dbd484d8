import type { Tx } from '@croft/sql';
import { type IssueWithPull, reviveSurroundings } from './issues.ts';

/** What a list of issues is filtered by. */
export interface IssueFilter {
  state: 'open' | 'closed' | 'all';
  kind: 'issues' | 'pulls' | 'all';
  /** Part of the title, the body or a comment, whatever its case; empty for everything. */
  keyword: string;
  /** Names in lower case; any of them. Without one that exists nothing is filtered. */
  labels: readonly string[];
  /** Titles in lower case, or ids; any of them. Null for everything. */
  milestones: readonly string[] | null;
  /** By the time of the last change. */
  since: Date | null;
  before: Date | null;
  createdBy: number | null;
  assignedBy: number | null;
  /** A login that a text names after `@`; empty for everything. */
  mentioned: string;
}

/** The part of a list that was asked for, and how many the whole has. */
export interface IssueSlice {
  rows: IssueWithPull[];
  total: number;
}

/** Of one repository, newest first. */
export async function listInRepository(
  tx: Tx,
  scope: { repositoryId: number; ownerId: number; issues: boolean; pulls: boolean },
  filter: IssueFilter,
  page: { limit: number; offset: number },
): Promise<IssueSlice> {
  const showsIssues = scope.issues && filter.kind !== 'pulls';
  const showsPulls = scope.pulls && filter.kind !== 'issues';
  const rows = await tx.rows<Row>`
    with known_labels as materialized (
      select id from :schema.labels
      where lower(name) = any(${filter.labels}::text[])
        and (repository_id = ${scope.repositoryId} or organization_id = ${scope.ownerId})
    ), own as materialized (
      select * from :schema.issue_blocks where repository_id = ${scope.repositoryId}
    ), reach as materialized (
      select coalesce(array_agg(id), '{}') as blocks from own
    ), labelled as materialized (
      select block_id, bit_or(bits) as bits from :schema.label_blocks
      where label_id = any(array(select id from known_labels)) and block_id = any(array(select id from own))
      group by block_id
    ), found as materialized (
      -- Of what may be read only: that a word was found elsewhere must not show.
      select k.block_id, bit_or(k.bits) as bits
      from reach cross join lateral :schema.keyword_hits(nullif(${filter.keyword}::text, ''), reach.blocks) k
        join own b on b.id = k.block_id
      where ${filter.keyword}::text <> '' and k.bits & b.present & (case when ${scope.issues}::boolean then ~b.pulls else 0 end
          | case when ${scope.pulls}::boolean then b.pulls else 0 end) <> 0
      group by k.block_id
    ), mentioning as materialized (
      select block_id, bit_or(bits) as bits
      from reach, :schema.keyword_hits(nullif('@' || ${filter.mentioned}::text, '@'), reach.blocks)
      where ${filter.mentioned}::text <> '' group by block_id
    ), rules as materialized (
      -- Labels that are known filter. A keyword that found nothing does, unless such labels are there to filter alone.
      select exists (select from known_labels) as by_label,
        ${filter.keyword}::text <> ''
          and (exists (select from found) or not exists (select from known_labels)) as by_keyword
    ), blocks as materialized (
      select b.block, b.present
        & case ${filter.state}::text when 'open' then ~b.closed when 'closed' then b.closed else -1 end
        & (case when ${showsIssues}::boolean then ~b.pulls else 0 end
          | case when ${showsPulls}::boolean then b.pulls else 0 end)
        & case when r.by_label then coalesce(l.bits, 0) else -1 end
        & case when r.by_keyword then coalesce(f.bits, 0) else -1 end
        & case when ${filter.mentioned}::text <> '' then coalesce(m.bits, 0) else -1 end as bits
      from rules r cross join own b left join labelled l on l.block_id = b.id left join found f on f.block_id = b.id
        left join mentioning m on m.block_id = b.id
    ), map as materialized (
      -- The bits by the number of their block, from 1.
      select array(select coalesce(b.bits, 0) from generate_series(0, (select max(block) from blocks)) as n (block)
        left join blocks b using (block) order by n.block) as bits
    ), picked as materialized (
      select i.id, i.created_at from :schema.issues i, map
      where ${isNarrow(filter)}::boolean and i.repository_id = ${scope.repositoryId}
        and (map.bits[(i.number >> 6) + 1] >> (i.number & 63)) & 1 = 1
        and (${filter.milestones}::text[] is null or i.milestone_id in (select m.id from :schema.milestones m
          where m.repository_id = ${scope.repositoryId}
            and (lower(m.title) = any(${filter.milestones}::text[]) or m.id::text = any(${filter.milestones}::text[]))))
        and (${filter.since}::timestamptz is null or i.updated_at >= ${filter.since}::timestamptz)
        and (${filter.before}::timestamptz is null or i.updated_at <= ${filter.before}::timestamptz)
        and (${filter.createdBy}::bigint is null or i.poster_id = ${filter.createdBy}::bigint)
        and (${filter.assignedBy}::bigint is null or exists (select from :schema.issue_assignees a
          where a.issue_id = i.id and a.user_id = ${filter.assignedBy}::bigint))
        and (${filter.mentioned}::text = '' or :schema.mentions(i.id, ${filter.mentioned}::text))
    ), totals as materialized (
      select case when ${isNarrow(filter)}::boolean then (select count(*) from picked)
        else (select coalesce(sum(bit_count(bits::bit(64))), 0) from blocks) end::bigint as total
    ), page as materialized (
      (select id, created_at from picked order by created_at desc, id desc limit ${page.limit} offset ${page.offset})
      union all
      (select i.id, i.created_at from :schema.issues i, map
        where not ${isNarrow(filter)}::boolean and (select total from totals) > ${page.offset}
          and i.repository_id = ${scope.repositoryId}
          and (map.bits[(i.number >> 6) + 1] >> (i.number & 63)) & 1 = 1
        order by i.created_at desc, i.id desc limit ${page.limit} offset ${page.offset})
    )
    select t.total as list_total, i.*, s.*
    from totals t left join page p on true left join :schema.issues i on i.id = p.id
      left join :schema.issue_surroundings s on s.issue_id = p.id
    order by p.created_at desc, p.id desc`;
  return sliceOf(rows);
}

/** An issue of some repository, with what it takes to name that. */
export type IssueAnywhere = IssueWithPull & { repository_name: string; owner_login: string };

/** Where somebody searches: what he may read, of one owner or team only when that is given. */
export interface SearchScope {
  userId: number;
  seesAll: boolean;
  publicOnly: boolean;
  ownerId: number | null;
  teamId: number | null;
  /** Its issues come first; 0 for none. */
  priorityRepositoryId: number;
}

/**
 * Of all repositories somebody may read, newest first. `linked` counts the issues of these repositories, whatever the
 * filter leaves of them. Visibility is part of the statement, so no count tells of anything else.
 */
export async function search(
  tx: Tx,
  scope: SearchScope,
  filter: IssueFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: IssueAnywhere[]; total: number; linked: number }> {
  const narrow = isNarrow(filter);
  const usesBits = filter.keyword !== '' || filter.labels.length > 0 || filter.mentioned !== '';
  const last = page.offset + page.limit;
  const rows = await tx.rows<Row & { linked: number; repository_name: string; owner_login: string }>`
    with scope as materialized (
      select u.repository_id, r.owner_id, u.issues and ${filter.kind}::text <> 'pulls' as shows_issues,
        u.pulls and ${filter.kind}::text <> 'issues' as shows_pulls, u.issues as reads_issues, u.pulls as reads_pulls,
        case when u.issues then case ${filter.state}::text when 'all' then r.issues
          when 'closed' then r.closed_issues else r.issues - r.closed_issues end else 0 end as issues,
        case when u.pulls then case ${filter.state}::text when 'all' then r.pulls
          when 'closed' then r.closed_pulls else r.pulls - r.closed_pulls end else 0 end as pulls
      from :schema.readable(${scope.userId}, ${scope.seesAll}, ${scope.publicOnly}) u
        join :schema.repositories r on r.id = u.repository_id
      where (u.issues or u.pulls) and (${scope.ownerId}::bigint is null or r.owner_id = ${scope.ownerId}::bigint)
        and (${scope.teamId}::bigint is null or exists (select from :schema.teams t
          where t.id = ${scope.teamId}::bigint and t.organization_id = r.owner_id
            and (t.level = 4 or t.includes_all_repositories or exists (select from :schema.team_repositories x
              where x.team_id = t.id and x.repository_id = r.id))))
    ), own as materialized (
      select b.*, s.shows_issues, s.shows_pulls, s.reads_issues, s.reads_pulls from scope s join :schema.issue_blocks b using (repository_id)
      where ${usesBits}::boolean
    ), reach as materialized (
      select coalesce(array_agg(id), '{}') as blocks from own
    ), known_labels as materialized (
      select l.id from :schema.labels l
      where lower(l.name) = any(${filter.labels}::text[])
        and (l.repository_id in (select repository_id from scope) or l.organization_id in (select owner_id from scope))
    ), labelled as materialized (
      select block_id, bit_or(bits) as bits from :schema.label_blocks
      where label_id = any(array(select id from known_labels)) group by block_id
    ), found as materialized (
      -- Of what may be read only: that a word was found elsewhere must not show.
      select k.block_id, bit_or(k.bits) as bits
      from reach cross join lateral :schema.keyword_hits(nullif(${filter.keyword}::text, ''), reach.blocks) k
        join own b on b.id = k.block_id
      where ${filter.keyword}::text <> '' and k.bits & b.present & (case when b.reads_issues then ~b.pulls else 0 end
          | case when b.reads_pulls then b.pulls else 0 end) <> 0
      group by k.block_id
    ), mentioning as materialized (
      select block_id, bit_or(bits) as bits
      from reach, :schema.keyword_hits(nullif('@' || ${filter.mentioned}::text, '@'), reach.blocks)
      where ${filter.mentioned}::text <> '' group by block_id
    ), rules as materialized (
      -- Labels that are known filter. A keyword that found nothing does, unless such labels are there to filter alone.
      select exists (select from known_labels) as by_label,
        ${filter.keyword}::text <> ''
          and (exists (select from found) or not exists (select from known_labels)) as by_keyword
    ), blocks as materialized (
      select * from (
        select b.repository_id, b.block, b.present
          & case ${filter.state}::text when 'open' then ~b.closed when 'closed' then b.closed else -1 end
          & (case when b.shows_issues then ~b.pulls else 0 end | case when b.shows_pulls then b.pulls else 0 end)
          & case when r.by_label then coalesce(l.bits, 0) else -1 end
          & case when r.by_keyword then coalesce(f.bits, 0) else -1 end
          & case when ${filter.mentioned}::text <> '' then coalesce(m.bits, 0) else -1 end as bits
        from rules r cross join own b left join labelled l on l.block_id = b.id left join found f on f.block_id = b.id
          left join mentioning m on m.block_id = b.id) b
      where bits <> 0
    ), wanted_milestones as materialized (
      select m.id from :schema.milestones m join scope s using (repository_id)
      where lower(m.title) = any(${filter.milestones}::text[]) or m.id::text = any(${filter.milestones}::text[])
    ), chosen as materialized (
      -- What the rarest of the filters leaves, by its index; changes of a time have none, there everything is looked at.
      select id from :schema.issues where poster_id = ${filter.createdBy}::bigint
      union all
      select issue_id from :schema.issue_assignees
      where ${filter.createdBy}::bigint is null and user_id = ${filter.assignedBy}::bigint
      union all
      select id from :schema.issues
      where ${filter.createdBy}::bigint is null and ${filter.assignedBy}::bigint is null
        and milestone_id = any(array(select id from wanted_milestones))
      union all
      select i.id from blocks b join :schema.issues i on i.repository_id = b.repository_id
        and i.number between b.block * 64 and b.block * 64 + 63
      where ${narrow}::boolean and ${usesBits}::boolean and ${filter.createdBy}::bigint is null
        and ${filter.assignedBy}::bigint is null and ${filter.milestones}::text[] is null
        and (b.bits >> (i.number & 63)) & 1 = 1
      union all
      select id from :schema.issues
      where ${narrow}::boolean and not ${usesBits}::boolean and ${filter.createdBy}::bigint is null
        and ${filter.assignedBy}::bigint is null and ${filter.milestones}::text[] is null
    ), picked as materialized (
      select i.id, i.created_at, i.repository_id
      from chosen c join :schema.issues i using (id) join scope s using (repository_id)
        left join blocks b on b.repository_id = i.repository_id and b.block = i.number >> 6
      where ${narrow}::boolean and case when i.is_pull then s.shows_pulls else s.shows_issues end
        and (${filter.state}::text = 'all' or (i.closed_at is not null) = (${filter.state}::text = 'closed'))
        and (not ${usesBits}::boolean or (b.bits >> (i.number & 63)) & 1 = 1)
        and (${filter.milestones}::text[] is null or i.milestone_id in (select id from wanted_milestones))
        and (${filter.since}::timestamptz is null or i.updated_at >= ${filter.since}::timestamptz)
        and (${filter.before}::timestamptz is null or i.updated_at <= ${filter.before}::timestamptz)
        and (${filter.assignedBy}::bigint is null or exists (select from :schema.issue_assignees a
          where a.issue_id = i.id and a.user_id = ${filter.assignedBy}::bigint))
        and (${filter.mentioned}::text = '' or :schema.mentions(i.id, ${filter.mentioned}::text))
    ), totals as materialized (
      select case when ${narrow}::boolean then (select count(*) from picked)
          when ${usesBits}::boolean then (select coalesce(sum(bit_count(bits::bit(64))), 0) from blocks)
          else coalesce(sum(case when shows_issues then issues else 0 end
            + case when shows_pulls then pulls else 0 end), 0) end::bigint as total,
        coalesce(sum(issues), 0)::bigint as linked
      from scope
    ), plan as materialized (
      -- Of many hits the first ones are among the newest issues, of few all are looked up.
      select total, not ${narrow}::boolean and total > ${page.offset}
          and (not ${usesBits}::boolean or total > 3000) as is_many,
        not ${narrow}::boolean and total > ${page.offset} and ${usesBits}::boolean as is_some,
        least(1000000, ceil(3.0 * ${last}::bigint * (select greatest(reltuples, 1) from pg_class
          where oid = ':schema.issues'::regclass) / greatest(total, 1))) + 100 as newest
      from totals
    ), first as materialized (
      select n.id, n.created_at, n.repository_id
      from (select i.id, i.created_at, i.repository_id, i.number, i.is_pull, i.closed_at is not null as closed
          from :schema.issues i where (select is_many from plan)
          order by i.created_at desc, i.id desc limit (select newest from plan)) n
        join scope s using (repository_id)
        left join blocks b on b.repository_id = n.repository_id and b.block = n.number >> 6
      where case when n.is_pull then s.shows_pulls else s.shows_issues end
        and (${filter.state}::text = 'all' or n.closed = (${filter.state}::text = 'closed'))
        and (not ${usesBits}::boolean or (b.bits >> (n.number & 63)) & 1 = 1)
    ), rest as materialized (
      select i.id, i.created_at, i.repository_id
      from blocks b join :schema.issues i on i.repository_id = b.repository_id
        and i.number between b.block * 64 and b.block * 64 + 63
      where (select is_some from plan) and (b.bits >> (i.number & 63)) & 1 = 1
        and (not (select is_many from plan) or b.repository_id = ${scope.priorityRepositoryId}::bigint
          or (select count(*) from first) < ${last}::bigint)
      union all
      select i.id, i.created_at, i.repository_id from scope s join :schema.issues i using (repository_id)
      where (select is_many from plan) and not ${usesBits}::boolean
        and (i.repository_id = ${scope.priorityRepositoryId}::bigint or (select count(*) from first) < ${last}::bigint)
        and case when i.is_pull then s.shows_pulls else s.shows_issues end
        and (${filter.state}::text = 'all' or (i.closed_at is not null) = (${filter.state}::text = 'closed'))
    ), page as materialized (
      select id, created_at, repository_id = ${scope.priorityRepositoryId}::bigint as has_priority
      from (select * from picked union select * from first union select * from rest) found
      order by has_priority desc, created_at desc, id desc limit ${page.limit} offset ${page.offset}
    )
    select t.total as list_total, t.linked, i.*, s.*, r.name as repository_name, o.login as owner_login
    from totals t left join page p on true left join :schema.issues i on i.id = p.id
      left join :schema.issue_surroundings s on s.issue_id = p.id
      left join :schema.repositories r on r.id = i.repository_id left join :schema.users o on o.id = r.owner_id
    order by p.has_priority desc, p.created_at desc, p.id desc`;
  return { ...sliceOf(rows), linked: rows[0]?.linked ?? 0 };
}

/**
 * The owner and team a search is limited to, as far as the viewer may know of them; teams are for members of their
 * organization.
 */
export function findOwnerAndTeam(
  tx: Tx,
  viewer: Pick<SearchScope, 'userId' | 'seesAll' | 'publicOnly'>,
  names: { owner: string; team: string },
): Promise<{ owner_id: number; team_id: number | null } | undefined> {
  return tx.row<{ owner_id: number; team_id: number | null }>`
    select o.id as owner_id, t.id as team_id
    from :schema.users o left join :schema.teams t on t.organization_id = o.id and t.name_key = lower(${names.team})
      and (${viewer.seesAll}::boolean or :schema.is_member(${viewer.userId}, o.id))
    where o.login_key = lower(${names.owner})
      and :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility)`;
}

/** Forgets words of deleted issues from one place of the vocabulary on; returns where to go on, 0 at its end. */
export async function sweepWords(tx: Tx, after: number, batch: number): Promise<number> {
  const row = await tx.row<{ next: number }>`select :schema.sweep_words(${after}, ${batch}) as next`;
  return row?.next ?? 0;
}

/** Whether a filter asks for what the bits of an issue do not say. */
function isNarrow(filter: IssueFilter): boolean {
  const { milestones, since, before, createdBy, assignedBy, mentioned } = filter;
  return (
    [milestones, since, before, createdBy, assignedBy].some((wanted) => wanted !== null) || mentioned !== ''
  );
}

/** A row of a page; an empty page is one row without an issue, which still has the total. */
type Row = { [Key in keyof IssueWithPull]: IssueWithPull[Key] } & { list_total: number };

function sliceOf<Listed extends Row>(rows: readonly Listed[]): { rows: Listed[]; total: number } {
  return {
    total: rows[0]?.list_total ?? 0,
    rows: rows.filter(({ id }) => id !== null).map(reviveSurroundings),
  };
}
