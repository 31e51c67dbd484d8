import { type Fragment, fragment, type Tx } from '@croft/sql';
import type { TeamRow } from '../people/teams.ts';
import { leftOver } from '../read-slice.ts';
import { readableOf } from '../readable.ts';
import {
  type ChangedBetween,
  type CommentSlice,
  type CommentWithIssue,
  PENDING,
  readEntries,
} from './comments.ts';
import type { IssueAnywhere } from './issue-lists.ts';
import { reviveSurroundings } from './issues.ts';
import type { LabelCard } from './labels.ts';
import type { MilestoneRow } from './milestones.ts';

/** Who reads, as statements take it that pick what he may see. */
export interface Reader {
  /** 0 is nobody. */
  userId: number;
  /** A site administrator, with credentials that are not for public things only. */
  seesAll: boolean;
  publicOnly: boolean;
}

/**
 * Begins a statement: `shown` are those of some entries `c` that their viewer may see. What is told of texts and commits
 * elsewhere is for those who may read these.
 */
const shown = (viewer: Reader, which: Fragment) => fragment`
  told as materialized (
    select c.id, c.details ?| array['dependent_issue', 'ref_key'] as is_of_elsewhere,
      case when c.kind = 'commit_ref' then (c.details->>'ref_repository_id')::bigint else s.repository_id end
        as repository_id,
      case when c.kind = 'commit_ref' then 'code' when s.is_pull then 'pulls' else 'issues' end as unit
    from :schema.comments c left join :schema.issues s
      on s.id = coalesce((c.details->>'dependent_issue')::bigint, (c.details->>'ref_issue_id')::bigint)
    where ${which} and not c.details ? ${PENDING}::text
  ), sources as materialized (
    ${readableOf(viewer, fragment`select distinct repository_id from told where is_of_elsewhere`)}
  ), shown as materialized (
    select t.id from told t left join sources u using (repository_id)
    where not t.is_of_elsewhere or case t.unit when 'code' then u.code when 'pulls' then u.pulls else u.issues end
  )`;

/** An entry of any kind in a repository, as far as the viewer may see it. */
export function findById(
  tx: Tx,
  repositoryId: number,
  id: number,
  viewer: Reader,
): Promise<CommentWithIssue | undefined> {
  return tx.row<CommentWithIssue>`
    with ${shown(viewer, fragment`c.id = ${id}`)}
    select c.*, i.number as issue_number, i.is_pull as issue_is_pull, i.locked_at is not null as issue_locked
    from shown join :schema.comments c using (id) join :schema.issues i on i.id = c.issue_id
    where i.repository_id = ${repositoryId}`;
}

/** A page of everything that happened to an issue but comments on lines, which their reviews have, oldest first, and how much there is. */
export async function list(
  tx: Tx,
  issueId: number,
  viewer: Reader,
  { since, before }: ChangedBetween,
  page: { limit: number; offset: number; bytes: number },
): Promise<CommentSlice> {
  const which = fragment`
    c.issue_id = ${issueId} and c.kind <> 'code'
    and (${since ?? null}::timestamptz is null or c.updated_at >= ${since ?? null}::timestamptz)
    and (${before ?? null}::timestamptz is null or c.updated_at <= ${before ?? null}::timestamptz)`;
  const found = fragment`
    with ${shown(viewer, which)}
    select (select count(*) from shown) as total,
      array(select id from shown order by id limit ${page.limit} offset ${page.offset}) as ids`;
  return await readEntries(tx, found, page.bytes, REFERRED_TO);
}

/** What is left of a page, without what was deleted meanwhile. */
export function listLeft(tx: Tx, ids: readonly number[], bytes: number): Promise<CommentSlice> {
  return readEntries(tx, leftOver(ids), bytes, REFERRED_TO);
}

/** An entry is shown with the whole of the issue and the comment it refers to. */
const REFERRED_TO = fragment`
  coalesce((select sum(octet_length(s.body)) from :schema.issues s
    where s.id in ((x.details->>'ref_issue_id')::bigint, (x.details->>'dependent_issue')::bigint)), 0)
  + coalesce((select octet_length(s.body) from :schema.comments s
    where s.id = (x.details->>'ref_comment_id')::bigint), 0)`;

/** Those of some issues, of whatever repositories, that the viewer may read. */
export async function listReadableIssues(
  tx: Tx,
  ids: readonly number[],
  viewer: Reader,
): Promise<IssueAnywhere[]> {
  const rows = await tx.rows<IssueAnywhere>`
    select i.*, s.*, r.name as repository_name, o.login as owner_login
    from :schema.issues i join :schema.issue_surroundings s on s.issue_id = i.id
      join :schema.repositories r on r.id = i.repository_id join :schema.users o on o.id = r.owner_id
    where i.id = any(${ids}::bigint[]) and :schema.may_read_unit(${viewer.userId}, ${viewer.seesAll},
      ${viewer.publicOnly}, i.repository_id, case when i.is_pull then 'pulls' else 'issues' end)`;
  return rows.map(reviveSurroundings);
}

/** A comment with the names of its repository. */
export type CommentAnywhere = CommentWithIssue & { repository_name: string; owner_login: string };

/** Those of some comments, of whatever repositories, that the viewer may read. */
export function listReadableComments(
  tx: Tx,
  ids: readonly number[],
  viewer: Reader,
): Promise<CommentAnywhere[]> {
  return tx.rows<CommentAnywhere>`
    select c.*, i.number as issue_number, i.is_pull as issue_is_pull, i.locked_at is not null as issue_locked,
      r.name as repository_name, o.login as owner_login
    from :schema.comments c join :schema.issues i on i.id = c.issue_id
      join :schema.repositories r on r.id = i.repository_id join :schema.users o on o.id = r.owner_id
    where c.id = any(${ids}::bigint[]) and c.kind in ('comment', 'review', 'code')
      and :schema.may_read_unit(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, i.repository_id,
        case when i.is_pull then 'pulls' else 'issues' end)`;
}

/** Whose things a timeline shows: what was a former owner's is not for the readers of the new one. */
export interface TimelineHome {
  id: number;
  owner_id: number;
}

/** Labels of a repository and its owner by their ids, as issues show them. */
export function listLabels(tx: Tx, home: TimelineHome, ids: readonly number[]): Promise<LabelCard[]> {
  return tx.rows<LabelCard>`
    select id, name, color, description, exclusive, organization_id, archived_at is not null as is_archived
    from :schema.labels
    where id = any(${ids}::bigint[]) and (repository_id = ${home.id} or organization_id = ${home.owner_id})`;
}

/** Milestones of a repository by their ids. */
export function listMilestones(
  tx: Tx,
  repositoryId: number,
  ids: readonly number[],
): Promise<MilestoneRow[]> {
  return tx.rows<MilestoneRow>`
    select * from :schema.milestones where repository_id = ${repositoryId} and id = any(${ids}::bigint[])`;
}

/** Teams of the owner by their ids, as far as the viewer may know of them. */
export function listTeams(
  tx: Tx,
  home: TimelineHome,
  ids: readonly number[],
  viewer: Reader,
): Promise<TeamRow[]> {
  return tx.rows<TeamRow>`
    select t.* from :schema.teams t
    where t.id = any(${ids}::bigint[]) and t.organization_id = ${home.owner_id} and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)`;
}
