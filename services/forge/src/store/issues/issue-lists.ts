import { type Fragment, fragment, type Tx } from '@croft/sql';
import type { UserRow } from '../people/users.ts';
import type { IssueRow, IssueWithPull } from './issues.ts';
import { addSurroundings, type IssuesAround, peopleOf } from './issues-around.ts';

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

/** A page of a list, and how much text of it may be loaded at once. */
export interface PagePart {
  limit: number;
  offset: number;
  bytes: number;
}

/** The part of a list that was asked for, or its beginning where that has too much text, and how many the whole has. */
export interface IssueSlice<Listed> {
  rows: Listed[];
  /** Ids of the rest of the part. */
  left: number[];
  total: number;
  /** Who wrote the issues and whom they are assigned to. */
  people: UserRow[];
}

/** Of one repository, newest first. */
export async function listInRepository(
  tx: Tx,
  scope: { repositoryId: number; ownerId: number; issues: boolean; pulls: boolean },
  filter: IssueFilter,
  page: PagePart,
): Promise<IssueSlice<IssueWithPull>> {
  const rows = await tx.rows<Row>`
    with found as materialized (
      select * from :schema.find_issues(
        array[row(${scope.repositoryId}::bigint, ${scope.ownerId}::bigint, ${scope.issues}::boolean,
          ${scope.pulls}::boolean):::schema.list_scope],
        ${filter.state}, ${filter.kind}, ${filter.labels}::text[], ${filter.keyword}, ${filter.mentioned},
        ${filter.milestones}::text[], ${filter.since}::timestamptz, ${filter.before}::timestamptz,
        ${filter.createdBy}::bigint, ${filter.assignedBy}::bigint, 0, ${page.limit}, ${page.offset})
    )
    select ${OF_PAGE}, i.* from found f ${withIssues(page.bytes)} order by i.place`;
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
  /** Only what he is asked to review, himself or one of his teams. */
  reviewRequested: boolean;
  /** Only what he reviewed. */
  reviewed: boolean;
}

/**
 * Of all repositories somebody may read, newest first. `linked` counts the issues of these repositories, whatever the
 * filter leaves of them. Visibility is part of the statement, so no count tells of anything else.
 */
export async function search(
  tx: Tx,
  scope: SearchScope,
  filter: IssueFilter,
  page: PagePart,
): Promise<IssueSlice<IssueAnywhere> & { linked: number }> {
  return await listAnywhere(
    tx,
    fragment`
      select * from :schema.find_issues(
        :schema.search_scope(${scope.userId}, ${scope.seesAll}, ${scope.publicOnly}, ${scope.ownerId}::bigint,
          ${scope.teamId}::bigint),
        ${filter.state}, ${filter.kind}, ${filter.labels}::text[], ${filter.keyword}, ${filter.mentioned},
        ${filter.milestones}::text[], ${filter.since}::timestamptz, ${filter.before}::timestamptz,
        ${filter.createdBy}::bigint, ${filter.assignedBy}::bigint, ${scope.priorityRepositoryId}, ${page.limit},
        ${page.offset}, :schema.reviewing(${scope.userId}, ${scope.reviewRequested}, ${scope.reviewed}))`,
    page.bytes,
  );
}

/** What is left of a page, without what was deleted meanwhile. */
export async function listLeft(
  tx: Tx,
  ids: readonly number[],
  bytes: number,
): Promise<IssueSlice<IssueAnywhere>> {
  const left = fragment`select 0 as total, 0 as linked, ${ids}::bigint[] as ids`;
  return await listAnywhere(tx, left, bytes);
}

/**
 * Reads the issues of a part of a list, of whatever repositories.
 * @param found a statement for `total`, `linked` and `ids`
 */
export async function listAnywhere(
  tx: Tx,
  found: Fragment,
  bytes: number,
): Promise<IssueSlice<IssueAnywhere> & { linked: number }> {
  const rows = await tx.rows<Row & { linked: number; repository_name: string; owner_login: string }>`
    with found as materialized (${found})
    select ${OF_PAGE}, f.linked, i.*, r.name as repository_name, o.login as owner_login
    from found f ${withIssues(bytes)}
      left join :schema.repositories r on r.id = i.repository_id left join :schema.users o on o.id = r.owner_id
    order by i.place`;
  return { ...sliceOf(rows), linked: rows[0]?.linked ?? 0 };
}

/**
 * The owner and team a search is limited to, as far as the viewer may know of them, and who wrote what it looks for;
 * null for what is not there. Teams are for members of their organization.
 */
export async function findNamed(
  tx: Tx,
  viewer: Pick<SearchScope, 'userId' | 'seesAll' | 'publicOnly'>,
  names: { owner: string; team: string; creator: string },
): Promise<{ owner_id: number | null; team_id: number | null; creator_id: number | null } | undefined> {
  return await tx.row`
    select o.id as owner_id, t.id as team_id, c.id as creator_id
    from (values (1)) as one
      left join :schema.users o on o.login_key = lower(${names.owner})
        and :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility)
      left join :schema.teams t on t.organization_id = o.id and t.name_key = lower(${names.team})
        and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)
      left join :schema.users c on c.login_key = lower(${names.creator})`;
}

/** Forgets words of deleted issues from one place of the vocabulary on; returns where to go on, 0 at its end. */
export async function sweepWords(tx: Tx, after: number, batch: number): Promise<number> {
  const row = await tx.row<{ next: number }>`select :schema.sweep_words(${after}, ${batch}) as next`;
  return row?.next ?? 0;
}

/** What is told of a page: in the first row what stands around its issues, in the last one which of them are left. */
export const OF_PAGE = fragment`f.total as list_total,
  case when i.place = min(i.place) over () then :schema.issues_around(f.ids) end as around,
  case when i.place = max(i.place) over () then f.ids[i.place::integer + 1:] end as left_ids`;

/** Joins the issues of a page, at least one and as many as have so much text together: what is not wanted is not read. */
export const withIssues = (bytes: number) => fragment`left join lateral (
    select x.*, p.place, sum(octet_length(x.body)) over (order by p.place) as text_so_far
    from unnest(f.ids) with ordinality as p (id, place) join :schema.issues x on x.id = p.id
  ) i on i.text_so_far <= greatest(${bytes}::bigint, octet_length(i.body))`;

/** What `OF_PAGE` adds to the rows; an empty page is one row without an issue, which still has the total. */
export interface OfPage {
  list_total: number;
  around: IssuesAround | null;
  left_ids: string[] | null;
}

/** Ids of the issues of a page that are not among its rows. */
export const leftOf = (rows: readonly Pick<OfPage, 'left_ids'>[]): number[] =>
  (rows.at(-1)?.left_ids ?? []).map(Number);

type Row = { [Key in keyof IssueRow]: IssueRow[Key] } & OfPage;

function sliceOf<Listed extends Row>(rows: readonly Listed[]): IssueSlice<Listed & IssueWithPull> {
  const around = rows[0]?.around ?? null;
  const issues = rows.filter(({ id }) => id !== null);
  return {
    total: rows[0]?.list_total ?? 0,
    rows: addSurroundings(issues, ({ id }) => id, around),
    left: leftOf(rows),
    people: peopleOf(around),
  };
}
