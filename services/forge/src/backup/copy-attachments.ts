import { copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@croft/runtime';
import type { Database } from '@croft/sql';
import { unlessMissing } from '../outside/unless-missing.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { readLines } from './read-lines.ts';

/**
 * Copies the files of attachments. They never change once they are there; one that was removed meanwhile is missed by nobody who
 * restores later.
 * @param backup where the rows are already
 * @throws StartError when one is missing whose row is still there
 */
export async function copyAttachments(
  { database, attachments: from }: { database: Database; attachments: string },
  backup: string,
): Promise<number> {
  const to = join(backup, 'attachments');
  await mkdir(to, { mode: 0o700 });
  // The first file makes the folder.
  const names = await readdir(from).catch(unlessMissing<string[]>([]));
  const copied = new Set<number>();
  for (const name of names.filter((one) => /^\d+$/.test(one))) {
    const done = await copyFile(join(from, name), join(to, name)).then(() => true, unlessMissing(false));
    if (done) copied.add(Number(name));
  }
  const missing = (await listStored(backup)).filter((id) => !copied.has(id));
  const lost = [...(await attachments.listKnown(database.autocommit(), missing))];
  if (lost.length > 0)
    throw new StartError(
      `${from} lacks the files of attachments, ${lost.length} in all, such as ${lost[0]}. Bring them back, or delete these attachments.`,
    );
  return copied.size;
}

/** Complete files, as the saved rows have them. */
async function listStored(backup: string): Promise<number[]> {
  const ids: number[] = [];
  await using file = await open(join(backup, 'tables', 'attachments.jsonl'));
  for await (const line of readLines(file)) {
    const { id, stored } = JSON.parse(line) as { id: number; stored: boolean };
    if (stored) ids.push(id);
  }
  return ids;
}
