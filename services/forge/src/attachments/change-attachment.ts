import type { Caller } from '../caller/caller.ts';
import type { CommentPath } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findSubject } from '../reactions/find-subject.ts';
import { checkFileType, cleanFileName } from '../rules/files/file-name.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { findSubjectToWrite } from './find-subject-to-write.ts';
import { removeFiles } from './remove-files.ts';

/** What a path says of an attachment. */
export type AttachmentPath = (NumberedPath | CommentPath) & { attachment: string };

/** The files of an issue, without those of its comments, or of a comment. */
export async function listAttachments(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath | CommentPath,
): Promise<attachments.AttachmentRow[]> {
  const { issueId, commentId } = await findSubject(context, viewer, path);
  const tx = context.database.autocommit();
  const rows =
    commentId === null
      ? (await attachments.mapByIssues(tx, [issueId])).get(issueId)
      : (await attachments.mapByComments(tx, [commentId])).get(commentId);
  return rows ?? [];
}

/**
 * A file of an issue or a comment.
 * @throws 404, for files of others, too
 */
export async function findAttachment(
  context: Context,
  viewer: Caller | undefined,
  path: AttachmentPath,
): Promise<attachments.AttachmentRow> {
  const subject = await findSubject(context, viewer, path);
  return await find(context, subject, path.attachment);
}

/**
 * Gives a file another name; an empty one leaves it.
 * @throws 403, 404, 422, 423
 */
export async function renameAttachment(
  context: Context,
  caller: Caller,
  path: AttachmentPath,
  wanted: string,
): Promise<attachments.AttachmentRow> {
  const subject = await findSubjectToWrite(context, caller, path);
  const row = await find(context, subject, path.attachment);
  if (wanted === '') return row;
  const name = cleanFileName(wanted);
  checkFileType(name, context.settings.ATTACHMENT_TYPES);
  await attachments.rename(context.database.autocommit(), row.id, name);
  return { ...row, name };
}

/**
 * Removes a file.
 * @throws 403, 404, 423
 */
export async function deleteAttachment(
  context: Context,
  caller: Caller,
  path: AttachmentPath,
): Promise<void> {
  const subject = await findSubjectToWrite(context, caller, path);
  const row = await find(context, subject, path.attachment);
  if (!(await attachments.deleteById(context.database.autocommit(), row.id))) throw notFound();
  await removeFiles(context, [row]);
}

async function find(
  { database }: Context,
  place: attachments.AttachmentPlace,
  id: string,
): Promise<attachments.AttachmentRow> {
  const row = await attachments.findById(database.autocommit(), place, readId(id));
  if (row === undefined) throw notFound();
  return row;
}
