import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A file that belongs to an issue, a comment or a release. Its file is named after its id. */
export type AttachmentRow = Tables['attachments'];

/** Where a file hangs: at an issue, or at a comment on it, or at a release. */
export type AttachmentPlace =
  | {
      issueId: number;
      /** Null: at the issue itself. */
      commentId: number | null;
    }
  | { releaseId: number };

/** The same as columns have it. */
const columnsOf = (place: AttachmentPlace) =>
  'releaseId' in place
    ? { releaseId: place.releaseId, issueId: null, commentId: null }
    : { ...place, releaseId: null };

/** A file that came as JSON inside another row, where times are texts. */
export function reviveAttachment(json: AttachmentRow): AttachmentRow {
  return { ...json, created_at: new Date(json.created_at) };
}

/** The files of comments. */
export async function mapByComments(
  tx: Tx,
  commentIds: readonly number[],
): Promise<Map<number, AttachmentRow[]>> {
  const rows = await tx.rows<AttachmentRow>`
    select * from :schema.attachments where comment_id = any(${commentIds}::bigint[]) and stored order by id`;
  return groupBy(rows, (row) => row.comment_id);
}

/** The files of a place, of an issue without those of its comments. */
export function listByPlace(tx: Tx, place: AttachmentPlace): Promise<AttachmentRow[]> {
  const { issueId, commentId, releaseId } = columnsOf(place);
  return tx.rows<AttachmentRow>`
    select * from :schema.attachments
    where ((issue_id = ${issueId}::bigint and comment_id is not distinct from ${commentId}::bigint)
      or release_id = ${releaseId}::bigint) and stored order by id`;
}

/** The files of releases. */
export async function mapByReleases(
  tx: Tx,
  releaseIds: readonly number[],
): Promise<Map<number, AttachmentRow[]>> {
  const rows = await tx.rows<AttachmentRow>`
    select * from :schema.attachments where release_id = any(${releaseIds}::bigint[]) and stored order by id`;
  return groupBy(rows, (row) => row.release_id);
}

function groupBy(
  rows: readonly AttachmentRow[],
  keyOf: (row: AttachmentRow) => number | null,
): Map<number, AttachmentRow[]> {
  const groups = new Map<number, AttachmentRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** A complete file of an issue, a comment or a release. */
export function findById(tx: Tx, place: AttachmentPlace, id: number): Promise<AttachmentRow | undefined> {
  const { issueId, commentId, releaseId } = columnsOf(place);
  return tx.row<AttachmentRow>`
    select * from :schema.attachments
    where id = ${id} and ((issue_id = ${issueId}::bigint and comment_id is not distinct from ${commentId}::bigint)
      or release_id = ${releaseId}::bigint) and stored`;
}

/** A file with what decides who may read it. */
export type AttachmentWithPlace = AttachmentRow & {
  /** Whether its issue is a pull request; null of a release. */
  is_pull: boolean | null;
  /** When its release was published. */
  published_at: Date | null;
};

/** A complete file by its public name. */
export function findByUuid(tx: Tx, uuid: string): Promise<AttachmentWithPlace | undefined> {
  return tx.row<AttachmentWithPlace>`
    select a.*, i.is_pull, r.published_at from :schema.attachments a
      left join :schema.issues i on i.id = a.issue_id left join :schema.releases r on r.id = a.release_id
    where a.uuid = ${uuid}::uuid and a.stored`;
}

/** Announces a file that is written next; undefined when what it belongs to is gone, or has as many as it may have. */
export function insert(
  tx: Tx,
  place: AttachmentPlace,
  file: { uuid: string; repositoryId: number; uploaderId: number; name: string; most: number },
): Promise<AttachmentRow | undefined> {
  const { issueId, commentId, releaseId } = columnsOf(place);
  return tx.row<AttachmentRow>`
    with place as (
      select i.repository_id, i.id as issue_id, null::bigint as release_id from :schema.issues i
      where i.id = ${issueId}::bigint and (${commentId}::bigint is null
        or exists (select from :schema.comments c where c.id = ${commentId}::bigint and c.issue_id = i.id))
      union all
      select r.repository_id, null, r.id from :schema.releases r where r.id = ${releaseId}::bigint
    )
    insert into :schema.attachments
      (uuid, repository_id, issue_id, comment_id, release_id, uploader_id, name, size_bytes, created_at)
    select ${file.uuid}, p.repository_id, p.issue_id, ${commentId}::bigint, p.release_id, ${file.uploaderId},
      ${file.name}, 0, ${tx.now}
    from place p
    where p.repository_id = ${file.repositoryId}
      and ${file.most} > (select count(*) from :schema.attachments a
        where (a.issue_id = p.issue_id and a.comment_id is not distinct from ${commentId}::bigint)
          or a.release_id = p.release_id)
    returning *`;
}

/** The file is on the disk; false when its row went away meanwhile. */
export async function markStored(tx: Tx, id: number, sizeBytes: number): Promise<boolean> {
  return (
    (await tx.run`
    update :schema.attachments set stored = true, size_bytes = ${sizeBytes} where id = ${id} and not stored`) >
    0
  );
}

/** Gives a file another name; false when it is gone. */
export async function rename(tx: Tx, id: number, name: string): Promise<boolean> {
  return (await tx.run`update :schema.attachments set name = ${name} where id = ${id}`) > 0;
}

/** Counts a download. */
export async function countDownload(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.attachments set downloads = downloads + 1 where id = ${id}`;
}

/** Forgets a file; false when it was forgotten already. */
export async function deleteById(tx: Tx, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.attachments where id = ${id}`) > 0;
}

/** Forgets all files of an issue with those of its comments, or of a repository; which they were. */
export function deleteAllOf(
  tx: Tx,
  whole: { issueId: number } | { repositoryId: number },
): Promise<{ id: number }[]> {
  const { issueId, repositoryId } = { issueId: null, repositoryId: null, ...whole };
  return tx.rows<{ id: number }>`
    delete from :schema.attachments
    where issue_id = ${issueId}::bigint or repository_id = ${repositoryId}::bigint returning id`;
}

/** Forgets the files of what a review says, as a whole and on lines; which they were. */
export function deleteOfReview(tx: Tx, issueId: number, reviewId: number): Promise<{ id: number }[]> {
  return tx.rows<{ id: number }>`
    delete from :schema.attachments where comment_id = any(array(
      select id from :schema.comments
      where issue_id = ${issueId} and (details->>'review_id')::bigint = ${reviewId})) returning id`;
}

/** Forgets the files of a release, also those that are still being written; which they were. */
export function deleteOfRelease(tx: Tx, releaseId: number): Promise<{ id: number }[]> {
  return tx.rows<{ id: number }>`
    delete from :schema.attachments where release_id = ${releaseId} returning id`;
}

/** Forgets files whose writing a crash interrupted. */
export async function deleteUnfinished(tx: Tx): Promise<number> {
  return await tx.run`delete from :schema.attachments where not stored`;
}

/** Which of some ids there are rows for. */
export async function listKnown(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx.rows<{ id: number }>`
    select id from :schema.attachments where id = any(${ids}::bigint[])`;
  return new Set(rows.map(({ id }) => id));
}
