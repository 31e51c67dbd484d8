import type { Reader, Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import { type AttachmentRow, reviveAttachment } from '../tracking/attachments.ts';
import type { TimelineEntry } from './comments.ts';
import type { LabelCard } from './labels.ts';
import { type MilestoneRow, reviveMilestone } from './milestones.ts';

/** An issue, or the half of a pull request that is one. */
export type IssueRow = Tables['issues'];

/** What answers tell of an issue besides its row. */
export interface Surroundings {
  /** Of a pull request. */
  pull_id: number | null;
  merged_at: Date | null;
  labels: LabelCard[];
  milestone: MilestoneRow | null;
  /** In the order they were given. */
  assignee_ids: number[];
  /** Its own files, without those of its comments. */
  attachments: AttachmentRow[];
}

/** An issue as lists and answers need it. */
export type IssueWithPull = IssueRow & Surroundings;

/** Surroundings as they come: times inside of JSON are texts. */
export function reviveSurroundings<Row extends Surroundings>(row: Row): Row {
  return {
    ...row,
    milestone: row.milestone && reviveMilestone(row.milestone),
    attachments: row.attachments.map(reviveAttachment),
  };
}

/** The issue or pull request with a number. */
export async function findByNumber(
  tx: Tx,
  repositoryId: number,
  number: number,
): Promise<IssueWithPull | undefined> {
  const row = await tx.row<IssueWithPull>`
    select i.*, s.* from :schema.issues i join :schema.issue_surroundings s on s.issue_id = i.id
    where i.repository_id = ${repositoryId} and i.number = ${number}`;
  return row && reviveSurroundings(row);
}

/** Issues by their ids, as a map. */
export async function mapByIds(tx: Reader, ids: readonly number[]): Promise<Map<number, IssueWithPull>> {
  const rows = await tx.rows<IssueWithPull>`
    select i.*, s.* from :schema.issues i join :schema.issue_surroundings s on s.issue_id = i.id
    where i.id = any(${ids}::bigint[])`;
  return new Map(rows.map((row) => [row.id, reviveSurroundings(row)]));
}

/** Holds an issue against other writers until the transaction ends. */
export async function hold(tx: Tx, id: number): Promise<void> {
  await tx.run`select from :schema.issues where id = ${id} for no key update`;
}

/** The same for somebody who needs to know what it is. */
export async function lockById(tx: Tx, id: number): Promise<IssueWithPull | undefined> {
  // In two steps: what stands around it has to be read when nobody else is writing it any more.
  await hold(tx, id);
  const row = await tx.row<IssueWithPull>`
    select i.*, s.* from :schema.issues i join :schema.issue_surroundings s on s.issue_id = i.id where i.id = ${id}`;
  return row && reviveSurroundings(row);
}

/** A new issue, or the half of a new pull request that is one. */
export interface NewIssueRow {
  repositoryId: number;
  isPull: boolean;
  posterId: number;
  title: string;
  body: string;
  ref: string;
  deadlineAt: Date | undefined;
  closed: boolean;
  milestoneId: number | null;
  assigneeIds: readonly number[];
  labelIds: readonly number[];
  /** What its timeline begins with. */
  entries: readonly TimelineEntry[];
}

/**
 * Adds an issue under the next number of its repository, whose row is held from here on until the transaction ends: no
 * number is lost or given twice. Labels, assignees and a milestone that were deleted meanwhile are left out. Undefined
 * when the repository is gone.
 */
export function insert(tx: Tx, issue: NewIssueRow): Promise<IssueRow | undefined> {
  return tx.row<IssueRow>`
    with taken as (
      update :schema.repositories set last_number = last_number + 1, updated_at = ${tx.now},
        issues = issues + (not ${issue.isPull}::boolean)::int, pulls = pulls + ${issue.isPull}::boolean::int,
        closed_issues = closed_issues + (${issue.closed}::boolean and not ${issue.isPull}::boolean)::int,
        closed_pulls = closed_pulls + (${issue.closed}::boolean and ${issue.isPull}::boolean)::int
      where id = ${issue.repositoryId} and state = 'ready' returning last_number
    ), made as (
      insert into :schema.issues (repository_id, number, is_pull, poster_id, title, body, ref, deadline_at, closed_at,
        milestone_id, created_at, updated_at)
      select ${issue.repositoryId}, last_number, ${issue.isPull}::boolean, ${issue.posterId}::bigint,
        ${issue.title}::text, ${issue.body}::text, ${issue.ref}::text, ${issue.deadlineAt ?? null}::timestamptz,
        case when ${issue.closed}::boolean then ${tx.now}::timestamptz end,
        (select id from :schema.milestones where id = ${issue.milestoneId}::bigint for key share), ${tx.now}, ${tx.now}
      from taken returning *
    ), assigned as (
      insert into :schema.issue_assignees (issue_id, user_id, position)
      select made.id, u.id, position from made,
        unnest(${issue.assigneeIds}::bigint[]) with ordinality as given (user_id, position)
        join :schema.users u on u.id = user_id
      order by u.id for key share of u
    ), labelled as (
      insert into :schema.issue_labels (issue_id, label_id)
      select made.id, l.id from made, :schema.labels l where l.id = any(${issue.labelIds}::bigint[])
      order by l.id for key share of l
    ), told as (
      insert into :schema.comments (issue_id, kind, poster_id, body, details, created_at, updated_at)
      select made.id, e.kind, made.poster_id, coalesce(e.body, ''), coalesce(e.details, '{}'), ${tx.now}, ${tx.now}
      from made, rows from (
        jsonb_to_recordset(${JSON.stringify(issue.entries)}::jsonb) as (kind text, body text, details jsonb))
        with ordinality as e (kind, body, details, place)
      order by e.place
    )
    select * from made`;
}

/** What may change about an issue, as it will be. */
export type IssueChange = Pick<
  IssueRow,
  'title' | 'body' | 'ref' | 'deadline_at' | 'closed_at' | 'milestone_id' | 'content_version'
>;

/** Writes the changed issue, without a milestone that was deleted meanwhile. */
export async function update(tx: Tx, id: number, change: IssueChange): Promise<void> {
  await tx.run`
    update :schema.issues set title = ${change.title}, body = ${change.body}, ref = ${change.ref},
      deadline_at = ${change.deadline_at}, closed_at = ${change.closed_at},
      milestone_id = case when milestone_id = ${change.milestone_id}::bigint then milestone_id
        else (select id from :schema.milestones where id = ${change.milestone_id}::bigint for key share) end,
      content_version = ${change.content_version}, updated_at = ${tx.now}
    where id = ${id}`;
}

/** Closes an open issue; false when it was closed. */
export async function close(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.run`
    update :schema.issues set closed_at = ${tx.now}, updated_at = ${tx.now} where id = ${id} and closed_at is null`) >
    0
  );
}

/** Opens a closed issue again; false when it was open. */
export async function reopen(tx: Tx, id: number): Promise<boolean> {
  return (
    (await tx.run`
    update :schema.issues set closed_at = null, updated_at = ${tx.now} where id = ${id} and closed_at is not null`) >
    0
  );
}

/** Notes that something about an issue changed. */
export async function touch(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.issues set updated_at = ${tx.now} where id = ${id}`;
}

/** Removes an issue or a pull request with everything around it, and corrects the counters; its number stays taken. */
export async function deleteById(tx: Tx, id: number): Promise<boolean> {
  const changed = await tx.run`
    with gone as (delete from :schema.issues where id = ${id} returning repository_id, is_pull, closed_at)
    update :schema.repositories r set
      issues = issues - (not is_pull)::int, pulls = pulls - is_pull::int,
      closed_issues = closed_issues - (closed_at is not null and not is_pull)::int,
      closed_pulls = closed_pulls - (closed_at is not null and is_pull)::int
    from gone where r.id = gone.repository_id`;
  return changed > 0;
}
