import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { attachmentFolder } from './attachment-file.ts';

const BATCH = 1000;

/**
 * At start, before anybody can send one: forgets files whose writing a crash interrupted, and removes those whose rows
 * are gone, as where a crash came between the two. Nobody else writes to the folder.
 */
export async function settleAttachments(context: Context): Promise<void> {
  const { database, log } = context;
  await attachments.deleteUnfinished(database.autocommit());
  const folder = attachmentFolder(context);
  let batch: string[] = [];
  let removed = 0;
  for await (const name of filesOf(folder)) {
    batch.push(name);
    if (batch.length < BATCH) continue;
    removed += await removeUnknown(context, folder, batch);
    batch = [];
  }
  removed += await removeUnknown(context, folder, batch);
  if (removed > 0) log.info({ removed }, 'removed files of attachments that are gone');
}

async function* filesOf(folder: string): AsyncIterable<string> {
  try {
    for await (const entry of await opendir(folder)) if (/^\d{1,15}$/.test(entry.name)) yield entry.name;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
  }
}

async function removeUnknown(
  { database }: Context,
  folder: string,
  names: readonly string[],
): Promise<number> {
  if (names.length === 0) return 0;
  const known = await attachments.listKnown(database.autocommit(), names.map(Number));
  const unknown = names.filter((name) => !known.has(Number(name)));
  for (const name of unknown) await rm(join(folder, name), { force: true });
  return unknown.length;
}
