import type { Tx } from '@croft/sql';
import type { Tables } from '../../tables.gen.ts';

/** A file that belongs to an issue or a comment. Its file is named after its id. */
export type AttachmentRow = Tables['attachments'];

/** Where a file hangs: at an issue, or at a comment on it. */
export interface AttachmentPlace {
  issueId: number;
  /** Null: at the issue itself. */
  commentId: number | null;
}

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

/** The files of issues, without those of their comments. */
export async function mapByIssues(
  tx: Tx,
  issueIds: readonly number[],
): Promise<Map<number, AttachmentRow[]>> {
  const rows = await tx.rows<AttachmentRow>`
    select * from :schema.attachments
    where issue_id = any(${issueIds}::bigint[]) and comment_id is null and stored order by id`;
  return groupBy(rows, (row) => row.issue_id);
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

/** A complete file of an issue or a comment. */
export function findById(
  tx: Tx,
  { issueId, commentId }: AttachmentPlace,
  id: number,
): Promise<AttachmentRow | undefined> {
  return tx.row<AttachmentRow>`
    select * from :schema.attachments
    where id = ${id} and issue_id = ${issueId} and comment_id is not distinct from ${commentId}::bigint and stored`;
}

/** A complete file by its public name, and whether it belongs to a pull request. */
export function findByUuid(
  tx: Tx,
  uuid: string,
): Promise<(AttachmentRow & { is_pull: boolean }) | undefined> {
  return tx.row<AttachmentRow & { is_pull: boolean }>`
    select a.*, i.is_pull from :schema.attachments a join :schema.issues i on i.id = a.issue_id
    where a.uuid = ${uuid}::uuid and a.stored`;
}

/** Announces a file that is written next; undefined when what it belongs to is gone, or has as many as it may have. */
export function insert(
  tx: Tx,
  file: AttachmentPlace & {
    uuid: string;
    repositoryId: number;
    uploaderId: number;
    name: string;
    most: number;
  },
): Promise<AttachmentRow | undefined> {
  return tx.row<AttachmentRow>`
    insert into :schema.attachments
      (uuid, repository_id, issue_id, comment_id, uploader_id, name, size_bytes, created_at)
    select ${file.uuid}, i.repository_id, i.id, ${file.commentId}::bigint, ${file.uploaderId}, ${file.name}, 0, ${tx.now}
    from :schema.issues i
    where i.id = ${file.issueId} and i.repository_id = ${file.repositoryId}
      and (${file.commentId}::bigint is null
        or exists (select from :schema.comments c where c.id = ${file.commentId}::bigint and c.issue_id = i.id))
      and ${file.most} > (select count(*) from :schema.attachments a
        where a.issue_id = i.id and a.comment_id is not distinct from ${file.commentId}::bigint)
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

/** Gives a file another name. */
export async function rename(tx: Tx, id: number, name: string): Promise<void> {
  await tx.run`update :schema.attachments set name = ${name} where id = ${id}`;
}

/** Counts a download. */
export async function countDownload(tx: Tx, id: number): Promise<void> {
  await tx.run`update :schema.attachments set downloads = downloads + 1 where id = ${id}`;
}

/** Forgets a file; false when it was forgotten already. */
export async function deleteById(tx: Tx, id: number): Promise<boolean> {
  return (await tx.run`delete from :schema.attachments where id = ${id}`) > 0;
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
