import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, tooLarge, unacceptable } from '../failures.ts';
import { sync } from '../outside/git/repository.ts';
import { checkFileType, cleanFileName } from '../rules/files/file-name.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { attachmentFile, attachmentFolder } from './attachment-file.ts';
import { type Holder, limitsOf } from './find-holder.ts';
import { touchHolder } from './touch-holder.ts';

/** A file that somebody sends. */
export interface SentFile {
  name: string;
  content: Readable;
  /** Aborts when nobody waits for the answer any more. */
  abandoned: AbortSignal;
}

/**
 * Keeps a file of an issue, a comment or a release: its row, its bytes, and that they are complete. Whatever goes
 * wrong on the way, neither is left; what a crash leaves goes at the next start.
 * @throws 404 when what it belongs to went away meanwhile, 413, 422, 503 when the disk is full
 */
export async function storeAttachment(
  context: Context,
  caller: Caller,
  holder: Holder,
  sent: SentFile,
): Promise<attachments.AttachmentRow> {
  const { database, settings } = context;
  const { found, place } = holder;
  const name = cleanFileName(sent.name);
  const { most, bytes, endings } = limitsOf(settings, place);
  checkFileType(name, endings);
  const row = await attachments.insert(database.autocommit(), place, {
    uuid: randomUUID(),
    repositoryId: found.repository.id,
    uploaderId: caller.userId,
    name,
    most,
  });
  if (row === undefined) throw unacceptable(`there can be ${most} files at most`);
  const path = attachmentFile(context, row.id);
  try {
    await mkdir(attachmentFolder(context), { recursive: true, mode: 0o700 });
    const size = await write(path, sent, bytes);
    await sync(attachmentFolder(context));
    await database.transaction(async (tx) => {
      await touchHolder(tx, holder, caller.userId);
      if (!(await attachments.markStored(tx, row.id, size))) throw notFound();
    });
    return { ...row, stored: true, size_bytes: size };
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    await attachments.deleteById(database.autocommit(), row.id);
    throw error;
  }
}

/** Writes what arrives and returns how much it was; it is on the disk then. */
async function write(path: string, { content, abandoned }: SentFile, limit: number): Promise<number> {
  // A file of this name can only be left over from a database that was put back to an older state.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file: FileHandle = await open(path, flags, 0o600);
  try {
    let size = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      abandoned.throwIfAborted();
      size += chunk.length;
      if (size > limit) throw tooLarge(`a file may have ${limit} bytes at most`);
      await file.writeFile(chunk);
    }
    abandoned.throwIfAborted();
    await file.sync();
    return size;
  } finally {
    await file.close();
  }
}
