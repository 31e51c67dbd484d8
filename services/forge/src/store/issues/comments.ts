import { type Fragment, fragment, type Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';
import { leftOver, readSlice, type Slice } from '../read-slice.ts';

/** Something that happened to an issue, in its timeline; `kind` has the reference's names, `comment` is what people write. */
export type CommentRow = Tables['comments'];

/** In the details of a comment on code whose review is not submitted: it is for its author only, and no list has it. */
export const PENDING = 'pending';

/** What is to be added to a timeline. */
export interface TimelineEntry {
  kind: string;
  body?: string;
  /** By the names of the API, with ids of what they refer to. */
  details?: Readonly<Record<string, unknown>>;
}

/** Adds to the timeline of an issue. */
export async function add(
  tx: Tx,
  entry: TimelineEntry & { issueId: number; posterId: number | null },
): Promise<CommentRow> {
  const row = await tx.row<CommentRow>`
    insert into :schema.comments (issue_id, kind, poster_id, body, details, created_at, updated_at)
    values (${entry.issueId}, ${entry.kind}, ${entry.posterId}, ${entry.body ?? ''},
      ${JSON.stringify(entry.details ?? {})}, ${tx.now}, ${tx.now})
    returning *`;
  if (row === undefined) throw new Error('insert returned no row');
  return row;
}

/** Adds several at once, in their order. */
export async function addAll(
  tx: Tx,
  { issueId, posterId }: { issueId: number; posterId: number | null },
  entries: readonly TimelineEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await tx.run`
    insert into :schema.comments (issue_id, kind, poster_id, body, details, created_at, updated_at)
    select ${issueId}::bigint, e.kind, ${posterId}::bigint, coalesce(e.body, ''), coalesce(e.details, '{}'), ${tx.now}, ${tx.now}
    from rows from (jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as (kind text, body text, details jsonb))
      with ordinality as e (kind, body, details, place)
    order by e.place`;
}

/** A comment with what is needed of its issue. */
export type CommentWithIssue = CommentRow & {
  issue_number: number;
  issue_is_pull: boolean;
  issue_locked: boolean;
};

/** An entry of any kind in a repository, but what is pending; whoever asks for one sees it by `timeline.findById`. */
export function findById(tx: Tx, repositoryId: number, id: number): Promise<CommentWithIssue | undefined> {
  return tx.row<CommentWithIssue>`
    select c.*, i.number as issue_number, i.is_pull as issue_is_pull, i.locked_at is not null as issue_locked
    from :schema.comments c join :schema.issues i on i.id = c.issue_id
    where c.id = ${id} and i.repository_id = ${repositoryId} and not c.details ? ${PENDING}::text`;
}

/** When comments were last changed, both ends included. */
export interface ChangedBetween {
  since: Date | undefined;
  before: Date | undefined;
}

/** A part of a list of comments. */
export type CommentSlice = Slice<CommentWithIssue>;

/**
 * Reads a part of a list of entries.
 * @param found a statement for `total` and `ids`
 * @param beside bytes of text that are shown beside the entry `x`
 */
export function readEntries(
  tx: Tx,
  found: Fragment,
  bytes: number,
  beside: Fragment = fragment`0`,
): Promise<CommentSlice> {
  const source = fragment`
    select x.*, i.number as issue_number, i.is_pull as issue_is_pull, i.locked_at is not null as issue_locked,
      octet_length(x.body) + ${beside} as bytes
    from :schema.comments x join :schema.issues i on i.id = x.issue_id`;
  return readSlice(tx, found, source, bytes);
}

/** What is left of a part, without what was deleted meanwhile. */
export function listLeft(tx: Tx, ids: readonly number[], bytes: number): Promise<CommentSlice> {
  return readEntries(tx, leftOver(ids), bytes);
}

/** What people wrote about an issue, in its order. */
export function listByIssue(
  tx: Tx,
  issueId: number,
  { since, before }: ChangedBetween,
  part: { limit: number; offset: number; bytes: number },
): Promise<CommentSlice> {
  const found = fragment`
    select 0 as total, array(
      select id from :schema.comments
      where issue_id = ${issueId} and kind = 'comment'
        and (${since ?? null}::timestamptz is null or updated_at >= ${since ?? null}::timestamptz)
        and (${before ?? null}::timestamptz is null or updated_at <= ${before ?? null}::timestamptz)
      order by id limit ${part.limit} offset ${part.offset}) as ids`;
  return readEntries(tx, found, part.bytes);
}

/** How many of them there are. */
export async function countByIssue(
  tx: Tx,
  issueId: number,
  { since, before }: ChangedBetween,
): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.comments
    where issue_id = ${issueId} and kind = 'comment'
      and (${since ?? null}::timestamptz is null or updated_at >= ${since ?? null})
      and (${before ?? null}::timestamptz is null or updated_at <= ${before ?? null})`;
  return row?.count ?? 0;
}

/** What a list of the comments of a repository shows: those on what its viewer may read. */
export interface RepositoryComments extends ChangedBetween {
  repositoryId: number;
  onIssues: boolean;
  onPulls: boolean;
}

/** A page of what people wrote in a repository, oldest first. */
export function listByRepository(
  tx: Tx,
  { repositoryId, onIssues, onPulls, since, before }: RepositoryComments,
  page: { limit: number; offset: number; bytes: number },
): Promise<CommentSlice> {
  const found = fragment`
    select 0 as total, array(
      select c.id from :schema.comments c join :schema.issues i on i.id = c.issue_id
      where i.repository_id = ${repositoryId} and c.kind = 'comment'
        and case when i.is_pull then ${onPulls}::boolean else ${onIssues}::boolean end
        and (${since ?? null}::timestamptz is null or c.updated_at >= ${since ?? null}::timestamptz)
        and (${before ?? null}::timestamptz is null or c.updated_at <= ${before ?? null}::timestamptz)
      order by c.id limit ${page.limit} offset ${page.offset}) as ids`;
  return readEntries(tx, found, page.bytes);
}

/** How many of them there are. */
export async function countByRepository(
  tx: Tx,
  { repositoryId, onIssues, onPulls, since, before }: RepositoryComments,
): Promise<number> {
  const row = await tx.row<{ count: number }>`
    select count(*) from :schema.comments c join :schema.issues i on i.id = c.issue_id
    where i.repository_id = ${repositoryId} and c.kind = 'comment'
      and case when i.is_pull then ${onPulls}::boolean else ${onIssues}::boolean end
      and (${since ?? null}::timestamptz is null or c.updated_at >= ${since ?? null})
      and (${before ?? null}::timestamptz is null or c.updated_at <= ${before ?? null})`;
  return row?.count ?? 0;
}

/** Whether somebody wrote the same to an issue before. */
export async function hasBeenSaid(
  tx: Tx,
  { issueId, posterId, body }: { issueId: number; posterId: number; body: string },
): Promise<boolean> {
  const row = await tx.row`
    select from :schema.comments
    where issue_id = ${issueId} and kind = 'comment' and poster_id = ${posterId} and body = ${body} limit 1`;
  return row !== undefined;
}

/** Where the head of a pull request was before it went elsewhere than forward, the last one first. */
export async function listFormerHeads(tx: Tx, issueId: number, most: number): Promise<string[]> {
  const rows = await tx.rows<{ head: string }>`
    select details->'commit_ids'->>0 as head from :schema.comments
    where issue_id = ${issueId} and kind = 'pull_push' and details->>'is_force_push' = 'true'
    order by id desc limit ${most}`;
  return rows.map(({ head }) => head);
}

/**
 * Adds what somebody wrote, and counts it; undefined when the issue is gone, or locked and `evenLocked` is not set.
 * Others who write wait at the issue's row, so the count is right.
 */
export function write(
  tx: Tx,
  comment: { issueId: number; posterId: number; body: string; evenLocked: boolean },
): Promise<CommentRow | undefined> {
  return tx.row<CommentRow>`
    with counted as (
      update :schema.issues set comments = comments + 1, updated_at = ${tx.now}
      where id = ${comment.issueId} and (locked_at is null or ${comment.evenLocked}::boolean) returning id
    )
    insert into :schema.comments (issue_id, kind, poster_id, body, created_at, updated_at)
    select id, 'comment', ${comment.posterId}, ${comment.body}, ${tx.now}, ${tx.now} from counted returning *`;
}

/**
 * Holds an issue against others who change it or its comments. Not `for update`: entries of other issues may refer to
 * it meanwhile, and two that refer to each other would wait for ever.
 */
export function holdIssue(
  tx: Tx,
  issueId: number,
): Promise<{ id: number; is_pull: boolean; locked: boolean } | undefined> {
  return tx.row<{ id: number; is_pull: boolean; locked: boolean }>`
    select id, is_pull, locked_at is not null as locked from :schema.issues where id = ${issueId} for no key update`;
}

/** What somebody wrote: a comment, a review that is submitted, or what it says of a line. */
export const isWritten = ({ kind }: Pick<CommentRow, 'kind'>) => WRITTEN.includes(kind);
const WRITTEN = ['comment', 'review', 'code'];

/** The text somebody wrote, held against other writers until the transaction ends. */
export function lockWritten(tx: Tx, id: number): Promise<CommentRow | undefined> {
  return tx.row<CommentRow>`
    select * from :schema.comments
    where id = ${id} and kind = any(${WRITTEN}::text[]) and not details ? ${PENDING}::text for update`;
}

/** The texts of a review: its own and then those on lines, without empty ones. */
export function listOfReview(
  tx: Tx,
  issueId: number,
  reviewId: number,
  bytes: number,
): Promise<CommentSlice> {
  const found = fragment`
    select 0 as total, array(
      select id from :schema.comments
      where issue_id = ${issueId} and (details->>'review_id')::bigint = ${reviewId} and kind in ('review', 'code')
        and body <> '' and not details ? ${PENDING}::text
      order by kind = 'code', id) as ids`;
  return readEntries(tx, found, bytes);
}

/** Holds a text of somebody, in a comment or a review, until the transaction ends; false when it is gone. */
export async function holdText(tx: Tx, id: number): Promise<boolean> {
  const held = await tx.row`
    select from :schema.comments where id = ${id} and kind in ('comment', 'review', 'code') for update`;
  return held !== undefined;
}

/** Notes that something about a comment changed, besides its text. */
export async function touch(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.comments set updated_at = ${tx.now} where id = ${id}`;
}

/** Writes a changed text, which of a review stands in its own row as well. */
export async function updateBody(tx: Tx, id: number, body: string): Promise<void> {
  await tx.run`
    with changed as (
      update :schema.comments set body = ${body}, content_version = content_version + 1, updated_at = ${tx.now}
      where id = ${id} returning kind, details
    )
    update :schema.reviews r set body = ${body}, updated_at = ${tx.now} from changed c
    where c.kind = 'review' and r.id = (c.details->>'review_id')::bigint`;
}

/** Removes what somebody wrote, from the count too; undefined when it was gone. The caller holds the issue's row. */
export function remove(tx: Tx, id: number): Promise<CommentRow | undefined> {
  return tx.row<CommentRow>`
    with removed as (
      delete from :schema.comments where id = ${id} and kind = 'comment' returning *
    ), counted as (
      update :schema.issues set comments = comments - 1, updated_at = ${tx.now} where id in (select issue_id from removed)
    )
    select * from removed`;
}
