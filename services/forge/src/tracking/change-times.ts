import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import { locked, moderates } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, trackingDisabled } from '../failures.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from '../issues/find-issue.ts';
import { checkAdmin, checkNotArchived } from '../repositories/find-repository.ts';
import { decideTracking } from '../rules/issues/time-tracking.ts';
import { readId } from '../rules/requests/read-id.ts';
import { durationText } from '../rules/texts/duration-text.ts';
import { checkSeconds } from '../rules/texts/spent-time.ts';
import * as comments from '../store/issues/comments.ts';
import * as users from '../store/people/users.ts';
import * as trackedTimes from '../store/tracking/tracked-times.ts';

/** Time somebody spent. */
export interface SpentTime {
  seconds: number;
  /** When; undefined is now. */
  at: Date | undefined;
  /** Who, if not the caller. */
  userName: string;
}

/**
 * Notes time that was spent on an issue: whoever may read may do it unless that is for contributors, for others only
 * administrators.
 * @throws 400, 403, 404, 422, 423
 */
export async function addTime(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  spent: SpentTime,
): Promise<trackedTimes.TrackedTimeRow> {
  const found = await findIssueToTrack(context, caller, path);
  const seconds = checkSeconds(spent.seconds);
  const userId = await findWorker(context, caller, found, spent.userName);
  return await context.database.transaction(async (tx) => {
    await holdToTrack(tx, found);
    const at = spent.at ?? tx.now;
    const row = await trackedTimes.insert(tx, { issueId: found.issue.id, userId, seconds, at });
    await comments.add(tx, {
      issueId: found.issue.id,
      kind: 'add_time_manual',
      posterId: caller.userId,
      body: durationText(seconds),
      details: { tracked_time: row.id },
    });
    return row;
  });
}

/**
 * Forgets all time the caller spent on an issue.
 * @throws 400, 403, 404 when there is none, 423
 */
export async function resetTimes(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssueToTrack(context, caller, path);
  const { issue } = found;
  await context.database.transaction(async (tx) => {
    await holdToTrack(tx, found);
    const seconds = await trackedTimes.deleteOf(tx, issue.id, caller.userId);
    if (seconds === 0) throw notFound();
    await tellRemoval(tx, issue.id, caller.userId, seconds);
  });
}

/**
 * Forgets a time: everybody his own, site administrators everybody's.
 * @throws 400, 403, 404, 423
 */
export async function deleteTime(
  context: Context,
  caller: Caller,
  path: NumberedPath & { id: string },
): Promise<void> {
  const found = await findIssueToTrack(context, caller, path);
  const { issue } = found;
  const tracked = await trackedTimes.findById(context.database.autocommit(), issue.id, readId(path.id));
  if (tracked === undefined) throw notFound();
  if (tracked.user_id !== caller.userId && !caller.isAdmin) {
    throw forbidden('only who spent a time and site administrators delete it');
  }
  await context.database.transaction(async (tx) => {
    await holdToTrack(tx, found);
    const removed = await trackedTimes.deleteById(tx, issue.id, tracked.id);
    if (removed === undefined) throw notFound();
    await tellRemoval(tx, issue.id, caller.userId, removed.seconds);
  });
}

/**
 * An issue somebody works on.
 * @param disabled what is answered where nobody notes time: 400, and for stopwatches 403
 * @throws 403 for whoever does not contribute, where that is needed, 404, 423
 */
export async function findIssueToTrack(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  disabled = trackingDisabled,
): Promise<VisibleIssue> {
  const found = await findIssue(context, caller, path);
  checkNotArchived(found);
  const worker = { userId: caller.userId, isWriter: moderates(found, found.issue) };
  const decision = decideTracking(found.repository, worker, found.issue);
  if (decision === 'off') throw disabled();
  if (decision === 'contributors only') throw forbidden('only contributors track time in this repository');
  return found;
}

/**
 * Holds the issue until the transaction ends, in which its timeline is written.
 * @throws 403 where the conversation is locked, for all but writers, 404
 */
export async function holdToTrack(tx: Tx, found: VisibleIssue): Promise<void> {
  const issue = await comments.holdIssue(tx, found.issue.id);
  if (issue === undefined) throw notFound();
  if (issue.locked && !moderates(found, issue)) throw locked();
}

async function findWorker(
  { database }: Context,
  caller: Caller,
  found: VisibleIssue,
  name: string,
): Promise<number> {
  if (name === '' || name.toLowerCase() === caller.user.login_key) return caller.userId;
  checkAdmin(found);
  const user = await users.findByLogin(database.autocommit(), name);
  if (user === undefined || user.kind !== 'person') throw notFound();
  return user.id;
}

async function tellRemoval(tx: Tx, issueId: number, posterId: number, seconds: number): Promise<void> {
  const body = `- ${durationText(seconds)}`;
  await comments.add(tx, { issueId, kind: 'delete_time_manual', posterId, body });
}
