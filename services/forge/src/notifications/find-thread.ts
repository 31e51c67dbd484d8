import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { accessTo, mayRead } from '../repositories/find-repository.ts';
import { readThreadId } from '../rules/events/thread-filter.ts';
import * as notifications from '../store/events/notifications.ts';

/**
 * A thread of the caller.
 * @throws 404 for one that does not exist, that is somebody else's, or whose subject he may not read any more
 */
export async function findThread(
  { database }: Context,
  caller: Caller,
  id: string,
): Promise<notifications.ThreadRow> {
  const row = await notifications.findOwn(database.autocommit(), readThreadId(id), caller.userId);
  const found = row && accessTo(row.repository, caller);
  if (row === undefined || found === undefined || !mayRead(found, row.is_pull ? 'pulls' : 'issues'))
    throw notFound();
  return row;
}
