import { type FileHandle, open } from 'node:fs/promises';
import type { Caller } from '../caller/caller.ts';
import { unitOf } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findRepositoryById, mayRead } from '../repositories/find-repository.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { attachmentFile } from './attachment-file.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A file by its public name, opened, for somebody who may read what it belongs to; it counts as downloaded.
 * @throws 404, also when its bytes are gone, as after a restored database
 */
export async function findDownload(
  context: Context,
  viewer: Caller | undefined,
  uuid: string,
): Promise<{ row: attachments.AttachmentRow; file: FileHandle }> {
  const tx = context.database.autocommit();
  const row = UUID.test(uuid) ? await attachments.findByUuid(tx, uuid) : undefined;
  if (row === undefined) throw notFound();
  const found = await findRepositoryById(context, viewer, row.repository_id);
  if (!mayRead(found, unitOf(row.is_pull))) throw notFound();
  const file = await open(attachmentFile(context, row.id)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? notFound() : error;
  });
  try {
    await attachments.countDownload(tx, row.id);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { row, file };
}
