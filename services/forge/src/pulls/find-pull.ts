import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findRepository, mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import { readIndex } from '../rules/requests/read-id.ts';
import * as notifications from '../store/events/notifications.ts';
import * as mergeStarts from '../store/pulls/merge-starts.ts';
import * as pulls from '../store/pulls/pulls.ts';
import type { PullToMerge } from './check-merger.ts';

/** A pull request the caller may see, with its repository. */
export interface VisiblePull extends VisibleRepository {
  pull: pulls.PullCard;
}

/**
 * The pull request a path names.
 * @throws 404, also for the number of an issue
 */
export async function findPull(
  context: Context,
  caller: Caller | undefined,
  path: NumberedPath,
): Promise<VisiblePull> {
  const found = await findRepository(context, caller, path, 'pulls');
  const tx = context.database.autocommit();
  const pull = await pulls.findByNumber(tx, found.repository.id, readIndex(path.index));
  if (pull === undefined) throw notFound();
  return { ...found, pull };
}

/**
 * The same for somebody who wants it merged, and whether a merge of it is under way or was interrupted. He has read of it:
 * merge rule 2.
 * @throws 404
 */
export async function findToMerge(
  context: Context,
  caller: Caller,
  path: NumberedPath,
): Promise<PullToMerge & { interrupted: boolean }> {
  const { database } = context;
  const { userId } = caller;
  const [found, start] = await Promise.all([
    findRepository(context, caller, path, 'pulls'),
    mergeStarts.find(database.reads(), path, readIndex(path.index), userId),
  ]);
  // Of another repository when both took each other's name in this moment.
  if (start === undefined || start.pull.repository_id !== found.repository.id) throw notFound();
  const { pull, interrupted, unread, protections, teamIds } = start;
  if (unread) await notifications.markRead(database.autocommit(), userId, pull.issue_id);
  const rules = { protections, pusher: { userId, teamIds, mayWrite: mayWrite(found, 'code') } };
  return { ...found, pull, interrupted, rules };
}
