import { fragment, type Tx } from '@croft/sql';
import type { Approvers } from '../../protections/protection-options.ts';
import type { ReviewKind } from '../../reviews/review-kind.ts';
import type { Tables } from '../../tables.gen.ts';
import type { Viewer } from '../../viewer.ts';
import type { TeamRow } from '../people/teams.ts';
import { leftOver, readSlice, type Slice } from '../read-slice.ts';
import { personApproves } from './approvers.ts';

/** What somebody says of a pull request as a whole. */
export type ReviewRow = Tables['reviews'] & { kind: ReviewKind };

/** A review, or a request for one, as answers show them. */
export interface ReviewEntry {
  id: number;
  pull_id: number;
  reviewer_id: number | null;
  team_id: number | null;
  state: ReviewKind | 'REQUEST_REVIEW';
  body: string;
  commit_sha: string;
  official: boolean;
  stale: boolean;
  dismissed: boolean;
  submitted_at: Date | null;
  created_at: Date;
  updated_at: Date;
  comments_count: number;
  /** Null also when the viewer may not know of it. */
  team: TeamRow | null;
}

/** A page of what was said of a pull request, and asked for, oldest first; what is pending is for its author only. */
export function list(
  tx: Tx,
  pullId: number,
  viewer: Viewer,
  page: { limit: number; offset: number; bytes: number },
): Promise<Slice<ReviewEntry>> {
  const found = fragment`
    with seen as materialized (
      select e.id from :schema.review_entries e
      where e.pull_id = ${pullId} and (e.state <> 'PENDING' or e.reviewer_id = ${viewer.userId})
    )
    select (select count(*) from seen) as total,
      array(select id from seen order by id limit ${page.limit} offset ${page.offset}) as ids`;
  return readSlice(tx, found, entriesOf(pullId, viewer), page.bytes);
}

/** What is left of a page, without what is gone meanwhile. */
export function listLeft(
  tx: Tx,
  pullId: number,
  viewer: Viewer,
  ids: readonly number[],
  bytes: number,
): Promise<Slice<ReviewEntry>> {
  return readSlice(tx, leftOver(ids), entriesOf(pullId, viewer), bytes);
}

/** Those of some ids, as far as the viewer may see them. */
export function listByIds(
  tx: Tx,
  pullId: number,
  viewer: Viewer,
  ids: readonly number[],
): Promise<ReviewEntry[]> {
  return tx.rows<ReviewEntry>`
    select * from (${entriesOf(pullId, viewer)}) e where id = any(${ids}::bigint[]) order by id`;
}

/** What its viewer sees that was said of a pull request. */
const entriesOf = (pullId: number, viewer: Viewer) => fragment`
  select e.*, octet_length(e.body) as bytes,
    (select count(*) from :schema.review_comments c where c.review_id = e.id) as comments_count,
    (select to_jsonb(t) from :schema.teams t where t.id = e.team_id
      and :schema.may_know_team(${viewer.userId}, ${viewer.seesAll}, t)) as team
  from :schema.review_entries e
  where e.pull_id = ${pullId} and (e.state <> 'PENDING' or e.reviewer_id = ${viewer.userId})`;

/** Whose latest word is an official approval that was not dismissed, the first to give it first. */
export async function listApprovers(tx: Tx, pullId: number, most: number): Promise<number[]> {
  const rows = await tx.rows<{ reviewer_id: number }>`
    select reviewer_id from (
      select distinct on (reviewer_id) * from :schema.reviews
      where pull_id = ${pullId} and kind in ('APPROVED', 'REQUEST_CHANGES') and reviewer_id is not null
      order by reviewer_id, submitted_at desc, id desc) latest
    where kind = 'APPROVED' and official and dismissed_at is null order by submitted_at, id limit ${most}`;
  return rows.map(({ reviewer_id: id }) => id);
}

/** A review, held against others who change it until the transaction ends. */
export function lockById(tx: Tx, pullId: number, id: number): Promise<ReviewRow | undefined> {
  return tx.row<ReviewRow>`select * from :schema.reviews where id = ${id} and pull_id = ${pullId} for update`;
}

/** Somebody's review that he has not submitted yet, held likewise; there is one at most. */
export function lockPending(tx: Tx, pullId: number, reviewerId: number): Promise<ReviewRow | undefined> {
  return tx.row<ReviewRow>`
    select * from :schema.reviews
    where pull_id = ${pullId} and reviewer_id = ${reviewerId} and kind = 'PENDING' for update`;
}

/** Begins a review, which is pending until `submit`. */
export async function insert(
  tx: Tx,
  review: { pullId: number; reviewerId: number; body: string; commitSha: string },
): Promise<ReviewRow> {
  const row = await tx.row<ReviewRow>`
    insert into :schema.reviews (pull_id, reviewer_id, kind, body, commit_sha, created_at, updated_at)
    values (${review.pullId}, ${review.reviewerId}, 'PENDING', ${review.body}, ${review.commitSha}, ${tx.now}, ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** Adds a comment that was never pending: its author may have another review that is. */
export async function insertComment(
  tx: Tx,
  review: { pullId: number; reviewerId: number; commitSha: string; official: boolean },
): Promise<number> {
  const row = await tx.row<{ id: number }>`
    insert into :schema.reviews
      (pull_id, reviewer_id, kind, commit_sha, official, stale, submitted_at, created_at, updated_at)
    select id, ${review.reviewerId}::bigint, 'COMMENT', ${review.commitSha}::text, ${review.official}::boolean,
      head_sha <> ${review.commitSha}::text, ${tx.now}, ${tx.now}, ${tx.now}
    from :schema.pulls where id = ${review.pullId} returning id`;
  if (row === undefined) throw new Error('insert returned no row');
  return row.id;
}

/** Changes what a pending review says. */
export async function update(tx: Tx, id: number, change: { body: string; commitSha: string }): Promise<void> {
  await tx.run`
    update :schema.reviews set body = ${change.body}, commit_sha = ${change.commitSha}, updated_at = ${tx.now}
    where id = ${id} and kind = 'PENDING'`;
}

/**
 * Lets everybody see a pending review; false when it is pending no more. Stale is what is not about the head. A verdict takes
 * the place of those the same person gave before: they come back neither when it is dismissed nor when it is deleted.
 */
export async function submit(
  tx: Tx,
  id: number,
  said: { kind: ReviewKind; body: string; commitSha: string; official: boolean },
): Promise<boolean> {
  const changed = await tx.run`
    with replaced as (
      update :schema.reviews e set dismissed_at = coalesce(e.dismissed_at, ${tx.now}), official = false,
        updated_at = ${tx.now}
      from :schema.reviews r
      where r.id = ${id} and r.kind = 'PENDING' and ${said.kind}::text in ('APPROVED', 'REQUEST_CHANGES')
        and e.pull_id = r.pull_id and e.reviewer_id = r.reviewer_id and e.kind in ('APPROVED', 'REQUEST_CHANGES')
        and (e.official or e.dismissed_at is null)
    )
    update :schema.reviews r set kind = ${said.kind}, body = ${said.body}, commit_sha = ${said.commitSha},
      official = ${said.official}, stale = p.head_sha <> ${said.commitSha}, submitted_at = ${tx.now},
      updated_at = ${tx.now}
    from :schema.pulls p where r.id = ${id} and r.kind = 'PENDING' and p.id = r.pull_id`;
  return changed > 0;
}

/** Takes away a review with its comments and whatever timelines tell of it, here and where its texts are told of. */
export async function remove(tx: Tx, review: { id: number }, issueId: number): Promise<void> {
  await tx.run`
    with gone as (
      delete from :schema.reviews where id = ${review.id}
    ), untold as (
      delete from :schema.comments where issue_id = ${issueId} and (details->>'review_id')::bigint = ${review.id}
      returning id
    )
    delete from :schema.comments
    where details ? 'ref_key' and details->>'ref_key' = any(array(select 'comment:' || id from untold))`;
}

/** Approvals stay to be read and count no more: they were given for another base. */
export async function takeApprovalsBack(tx: Tx, pullId: number): Promise<void> {
  await tx.run`
    update :schema.reviews set official = false where pull_id = ${pullId} and kind = 'APPROVED' and official`;
}

/** Objections that were not dismissed count, or not, as those of their authors would who may approve now. */
export async function judgeObjections(
  tx: Tx,
  pullId: number,
  approvers: Approvers | undefined,
): Promise<void> {
  await tx.run`
    update :schema.reviews e set official = not e.official
    from :schema.pulls p join :schema.repositories r on r.id = p.repository_id
    where p.id = ${pullId} and e.pull_id = p.id and e.kind = 'REQUEST_CHANGES' and e.dismissed_at is null
      and e.reviewer_id is not null and e.official <> ${personApproves(fragment`e.reviewer_id`, approvers)}`;
}

/**
 * The same of some that are brought back, for the base that their pull request has by now. What a later verdict of its author
 * took the place of stays as that left it.
 */
export async function judgeBroughtBack(
  tx: Tx,
  ids: readonly number[],
  approvers: Approvers | undefined,
): Promise<void> {
  await tx.run`
    update :schema.reviews e set official = not e.official
    from :schema.pulls p join :schema.repositories r on r.id = p.repository_id
    where e.id = any(${ids}::bigint[]) and p.id = e.pull_id and e.kind = 'REQUEST_CHANGES' and e.reviewer_id is not null
      and not exists (select from :schema.reviews l
        where l.pull_id = e.pull_id and l.reviewer_id = e.reviewer_id and l.kind in ('APPROVED', 'REQUEST_CHANGES')
          and (l.submitted_at, l.id) > (e.submitted_at, e.id))
      and e.official <> ${personApproves(fragment`e.reviewer_id`, approvers)}`;
}

/** Lets reviews count no more, or again; returns those that did change. */
export function setDismissed(tx: Tx, ids: readonly number[], dismissed: boolean): Promise<{ id: number }[]> {
  return tx.rows<{ id: number }>`
    update :schema.reviews set dismissed_at = case when ${dismissed}::boolean then ${tx.now}::timestamptz end,
      updated_at = ${tx.now}
    where id = any(${ids}::bigint[]) and (dismissed_at is not null) <> ${dismissed}::boolean returning id`;
}

/** The verdicts that somebody gave before one of his. */
export async function listPriors(tx: Tx, review: ReviewRow): Promise<number[]> {
  const rows = await tx.rows<{ id: number }>`
    select id from :schema.reviews
    where pull_id = ${review.pull_id} and reviewer_id = ${review.reviewer_id} and id < ${review.id}
      and kind in ('APPROVED', 'REQUEST_CHANGES') order by id for update`;
  return rows.map(({ id }) => id);
}

/** An approval that is not about the head any more, and where that is. */
export interface StaleApproval {
  id: number;
  issue_id: number;
  repository_id: number;
  base_branch: string;
}

/**
 * Notes which reviews of a pull request are about its head, and which are not: the head may come back.
 * @returns approvals that count and have just become stale
 */
export function markStale(tx: Tx, pullId: number): Promise<StaleApproval[]> {
  return tx.rows<StaleApproval>`
    with marked as (
      update :schema.reviews r set stale = r.commit_sha <> p.head_sha
      from :schema.pulls p
      where p.id = ${pullId} and r.pull_id = p.id and r.kind <> 'PENDING' and r.stale <> (r.commit_sha <> p.head_sha)
      returning r.id, r.kind, r.stale, r.dismissed_at, p.issue_id, p.repository_id, p.base_branch
    )
    select id, issue_id, repository_id, base_branch from marked
    where kind = 'APPROVED' and stale and dismissed_at is null order by id`;
}

/** Whether a review is there and was submitted. */
export async function isSubmitted(tx: Tx, id: number): Promise<boolean> {
  return (await tx.row`select from :schema.reviews where id = ${id} and kind <> 'PENDING'`) !== undefined;
}

/** What a submitted review says; undefined when it is gone. */
export async function findBody(tx: Tx, id: number): Promise<string | undefined> {
  const row = await tx.row<{ body: string }>`
    select body from :schema.reviews where id = ${id} and kind <> 'PENDING'`;
  return row?.body;
}
