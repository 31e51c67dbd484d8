import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { readNewStatus } from '../rules/events/thread-filter.ts';
import { readQueryTime } from '../rules/requests/read-time.ts';
import * as notifications from '../store/events/notifications.ts';
import { findThread } from './find-thread.ts';
import { type ThreadQuery, threadsOf } from './list-threads.ts';
import { presentThreads } from './present-threads.ts';

/** Which threads get another status, and which one. */
export interface ThreadMarks extends Pick<ThreadQuery, 'all' | 'status-types'> {
  'to-status'?: string | undefined;
  last_read_at?: string | undefined;
}

/**
 * Gives the caller's threads another status, the unread ones when nothing else is said, as far as nothing happened to
 * them since he looked.
 */
export async function markThreads(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string } | undefined,
  marks: ThreadMarks,
): Promise<object[]> {
  const status = readNewStatus(marks['to-status']);
  const { database } = context;
  const tx = database.autocommit();
  const until = readQueryTime('last_read_at', marks.last_read_at) ?? tx.now;
  const filter = await threadsOf(context, caller, path, { ...marks, before: undefined }, ['unread']);
  const changed = await notifications.mark(tx, { ...filter, before: until }, status);
  return await presentThreads(context, caller, changed);
}

/**
 * Gives a single thread of the caller another status.
 * @throws 404, 422 for a status that does not exist
 */
export async function markThread(
  context: Context,
  caller: Caller,
  id: string,
  wanted: string | undefined,
): Promise<object | undefined> {
  const row = await findThread(context, caller, id);
  const status = readNewStatus(wanted);
  await notifications.setStatus(context.database.autocommit(), row.id, status);
  return (await presentThreads(context, caller, [{ ...row, status }]))[0];
}
