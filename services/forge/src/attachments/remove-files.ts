import { rm } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { attachmentFile } from './attachment-file.ts';

/**
 * Removes the files of rows that are gone. One that cannot be removed is of no use to anybody and goes with the next
 * start, so nobody is told of a failure.
 */
export async function removeFiles(context: Context, rows: readonly { id: number }[]): Promise<void> {
  for (const { id } of rows) {
    try {
      await rm(attachmentFile(context, id), { force: true });
    } catch (error) {
      context.log.warn({ attachment: id, reason: (error as Error).message }, 'a file could not be removed');
    }
  }
}
