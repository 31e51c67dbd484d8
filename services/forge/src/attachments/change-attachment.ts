import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { checkFileType, cleanFileName } from '../rules/files/file-name.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { findHolder, findHolderToWrite, type HolderPath, limitsOf } from './find-holder.ts';
import { removeFiles } from './remove-files.ts';
import { touchHolder } from './touch-holder.ts';

/** What a path says of an attachment. */
export type AttachmentPath = HolderPath & { attachment: string };

/** The files of a release, of an issue, without those of its comments, or of a comment. */
export async function listAttachments(
  context: Context,
  viewer: Caller | undefined,
  path: HolderPath,
): Promise<attachments.AttachmentRow[]> {
  const { place } = await findHolder(context, viewer, path);
  return await attachments.listByPlace(context.database.autocommit(), place);
}

/**
 * A file of an issue, a comment or a release.
 * @throws 404, for files of others, too
 */
export async function findAttachment(
  context: Context,
  viewer: Caller | undefined,
  path: AttachmentPath,
): Promise<attachments.AttachmentRow> {
  const { place } = await findHolder(context, viewer, path);
  return await find(context, place, path.attachment);
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
  const holder = await findHolderToWrite(context, caller, path);
  const { place } = holder;
  const row = await find(context, place, path.attachment);
  if (wanted === '') return row;
  const name = cleanFileName(wanted);
  checkFileType(name, limitsOf(context.settings, place).endings);
  await context.database.transaction(async (tx) => {
    await touchHolder(tx, holder);
    if (!(await attachments.rename(tx, row.id, name))) throw notFound();
  });
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
  const holder = await findHolderToWrite(context, caller, path);
  const row = await find(context, holder.place, path.attachment);
  await context.database.transaction(async (tx) => {
    await touchHolder(tx, holder);
    if (!(await attachments.deleteById(tx, row.id))) throw notFound();
  });
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
