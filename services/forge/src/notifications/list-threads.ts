import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readKinds, readStatuses, type ThreadStatus } from '../rules/events/thread-filter.ts';
import { readTimeRange } from '../rules/requests/read-time.ts';
import type { ThreadFilter } from '../store/events/notifications.ts';
import * as notifications from '../store/events/notifications.ts';
import { presentThreads } from './present-threads.ts';

/** What a list of threads can be asked for. */
export interface ThreadQuery {
  all?: string | undefined;
  'status-types': readonly string[];
  'subject-type'?: readonly string[];
  since?: string | undefined;
  before?: string | undefined;
  page?: string | undefined;
  limit?: string | undefined;
}

/** A page of the caller's threads, the latest first, of one repository or of all. */
export async function listThreads(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string } | undefined,
  query: ThreadQuery,
): Promise<ListPage> {
  const filter = await threadsOf(context, caller, path, query);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const [rows, total] = await Promise.all([
    notifications.list(tx, filter, page),
    notifications.count(tx, filter),
  ]);
  return { page, total, items: await presentThreads(context, caller, rows) };
}

/** How many of the caller's threads have a status. */
export async function countThreads(context: Context, caller: Caller, status: ThreadStatus): Promise<number> {
  const filter = await threadsOf(context, caller, undefined, { 'status-types': [status] });
  return await notifications.count(context.database.autocommit(), filter);
}

/**
 * Which of the caller's threads a request is about.
 * @throws 404 for a repository the caller may not know of, 422 for what is no time
 */
export async function threadsOf(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string } | undefined,
  query: ThreadQuery,
  fallback?: readonly ThreadStatus[],
): Promise<ThreadFilter> {
  const found = path && (await findRepository(context, caller, path));
  const range = readTimeRange(query);
  return {
    ...viewerOf(caller),
    repositoryId: found?.repository.id ?? null,
    statuses: readStatuses({ all: query.all, statusTypes: query['status-types'] }, fallback),
    kinds: readKinds(query['subject-type'] ?? []),
    since: range.since ?? null,
    before: range.before ?? null,
  };
}
