import { fragment, type Tx } from '@croft/sql';
import { PENDING } from '../issues/comments.ts';
import { leftOver, readSlice, type Slice } from '../read-slice.ts';

/** A comment on a line of a change. */
export interface ReviewCommentRow {
  id: number;
  review_id: number;
  poster_id: number | null;
  body: string;
  path: string;
  /** Below zero: of the file before the change. */
  line: number;
  commit_sha: string;
  diff_hunk: string;
  /** Who said that what it is about is settled. */
  resolver_id: number | null;
  created_at: Date;
  updated_at: Date;
}

/** A comment that is to be written. */
export interface NewReviewComment {
  path: string;
  body: string;
  line: number;
  hunk: string;
}

/** Adds comments to a pending review, in their order; nobody else sees them until it is submitted. */
export async function addAll(
  tx: Tx,
  review: { id: number; issueId: number; posterId: number; commitSha: string },
  added: readonly NewReviewComment[],
): Promise<void> {
  if (added.length === 0) return;
  await tx.run`
    with given as materialized (
      select g.*, nextval(pg_get_serial_sequence(':schema.comments', 'id')) as id from (
        select path, body, line, hunk
        from rows from (jsonb_to_recordset(${JSON.stringify(added)}::jsonb)
          as (path text, body text, line integer, hunk text)) with ordinality as x (path, body, line, hunk, place)
        order by place) g
    ), written as (
      insert into :schema.comments (id, issue_id, kind, poster_id, body, details, created_at, updated_at)
      overriding system value
      select id, ${review.issueId}::bigint, 'code', ${review.posterId}::bigint, body,
        jsonb_build_object('review_id', ${review.id}::bigint, ${PENDING}::text, true), ${tx.now}, ${tx.now}
      from given returning id
    )
    insert into :schema.review_comments (comment_id, review_id, path, line, commit_sha, diff_hunk)
    select g.id, ${review.id}::bigint, g.path, g.line, ${review.commitSha}::text, g.hunk
    from given g join written using (id)`;
}

/** Lets everybody see the comments of a review. */
export async function publish(tx: Tx, reviewId: number): Promise<void> {
  await tx.run`
    update :schema.comments c set details = c.details - ${PENDING}::text, updated_at = ${tx.now}
    from :schema.review_comments r where r.review_id = ${reviewId} and c.id = r.comment_id`;
}

/** How many comments a review has, and the bytes of their texts together. */
export async function measure(tx: Tx, reviewId: number): Promise<{ count: number; bytes: number }> {
  const row = await tx.row<{ count: number; bytes: number }>`
    select count(*), coalesce(sum(octet_length(c.body)), 0) as bytes
    from :schema.review_comments r join :schema.comments c on c.id = r.comment_id where r.review_id = ${reviewId}`;
  return row ?? { count: 0, bytes: 0 };
}

/** A part of the comments of a review, in the order they were written. */
export function list(
  tx: Tx,
  reviewId: number,
  part: { limit: number; offset: number; bytes: number },
): Promise<Slice<ReviewCommentRow>> {
  const found = fragment`
    select 0 as total, array(
      select comment_id from :schema.review_comments
      where review_id = ${reviewId} order by comment_id limit ${part.limit} offset ${part.offset}) as ids`;
  return readSlice(tx, found, COMMENTS, part.bytes);
}

/** What is left of a part, without what is gone meanwhile. */
export function listLeft(tx: Tx, ids: readonly number[], bytes: number): Promise<Slice<ReviewCommentRow>> {
  return readSlice(tx, leftOver(ids), COMMENTS, bytes);
}

const COMMENTS = fragment`
  select c.id, r.review_id, c.poster_id, c.body, r.path, r.line, r.commit_sha, r.diff_hunk,
    (c.details->>'resolve_doer')::bigint as resolver_id, c.created_at, c.updated_at, octet_length(c.body) as bytes
  from :schema.review_comments r join :schema.comments c on c.id = r.comment_id`;

/** Where a comment stands; undefined for what is none on a line. */
export function findPlace(
  tx: Tx,
  commentId: number,
): Promise<Pick<ReviewCommentRow, 'path' | 'line' | 'commit_sha' | 'diff_hunk'> | undefined> {
  return tx.row`
    select path, line, commit_sha, diff_hunk from :schema.review_comments where comment_id = ${commentId}`;
}

/** Says who settled what a comment is about, null that it is open again; nothing when it is so already. */
export async function setResolver(tx: Tx, id: number, resolverId: number | null): Promise<void> {
  await tx.run`
    update :schema.comments
    set details = case when ${resolverId}::bigint is null then details - 'resolve_doer'
      else details || jsonb_build_object('resolve_doer', ${resolverId}::bigint) end
    where id = ${id} and kind = 'code' and details ? 'resolve_doer' = (${resolverId}::bigint is null)`;
}
