import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, stopwatchMissing, stopwatchRuns } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { decideTracking } from '../rules/issues/time-tracking.ts';
import { durationText } from '../rules/texts/duration-text.ts';
import { MAX_SECONDS } from '../rules/texts/spent-time.ts';
import * as comments from '../store/issues/comments.ts';
import * as stopwatches from '../store/tracking/stopwatches.ts';
import * as trackedTimes from '../store/tracking/tracked-times.ts';
import { findIssueToTrack, holdToTrack } from './change-times.ts';
import { stopwatchJson } from './tracking-json.ts';

/**
 * Starts the caller's stopwatch on an issue; one that runs on another is stopped, for nobody does two things at once.
 * Nothing is noted of it where the caller may write no more: in an archived repository, in one he may not read, in a locked
 * conversation, and where he may not note time.
 * @throws 403, 404, 409 when it runs already, 423
 */
export async function startStopwatch(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssueForStopwatch(context, caller, path);
  const { issue } = found;
  await context.database.transaction(async (tx) => {
    await holdToTrack(tx, found);
    if (!(await stopwatches.start(tx, issue.id, caller.userId))) throw stopwatchRuns();
    const others = await stopwatches.takeOthers(tx, issue.id, viewerOf(caller));
    for (const other of others.filter((one) => mayStillTrack(one, caller.userId)))
      await note(tx, other.issue_id, caller.userId, other.started_at);
    await comments.add(tx, { issueId: issue.id, kind: 'start_tracking', posterId: caller.userId });
  });
}

/**
 * Stops the caller's stopwatch and notes the time it ran.
 * @throws 403, 404, 409 when none runs, 423
 */
export async function stopStopwatch(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssueForStopwatch(context, caller, path);
  const { issue } = found;
  await context.database.transaction(async (tx) => {
    await holdToTrack(tx, found);
    const taken = await stopwatches.take(tx, issue.id, caller.userId);
    if (taken === undefined) throw stopwatchMissing('stop');
    await note(tx, issue.id, caller.userId, taken.started_at);
  });
}

/**
 * Throws the caller's stopwatch away.
 * @throws 403, 404, 409 when none runs, 423
 */
export async function cancelStopwatch(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  const found = await findIssueForStopwatch(context, caller, path);
  const { issue } = found;
  await context.database.transaction(async (tx) => {
    await holdToTrack(tx, found);
    if ((await stopwatches.take(tx, issue.id, caller.userId)) === undefined) throw stopwatchMissing('cancel');
    await comments.add(tx, { issueId: issue.id, kind: 'cancel_tracking', posterId: caller.userId });
  });
}

/**
 * Stops the stopwatch of whoever closed an issue that is held, if one ran then; its time up to there is noted where he may
 * still write. So does every way of closing, as in the reference.
 */
export async function finishStopwatch(tx: Tx, issueId: number, userId: number): Promise<void> {
  const taken = await stopwatches.takeFinished(tx, issueId, userId);
  if (taken !== undefined && mayStillTrack(taken, userId))
    await note(tx, issueId, userId, taken.started_at, taken.closed_at ?? tx.now);
}

/**
 * The same behind the announcement of a merge, whose record is one statement that every merge waits for; doing it again does
 * nothing again.
 */
export async function finishStopwatchOfMerge(
  { database }: Context,
  issueId: number,
  userId: number,
): Promise<void> {
  if (!(await stopwatches.isRunning(database.autocommit(), issueId, userId))) return;
  await database.transaction(async (tx) => {
    if ((await comments.holdIssue(tx, issueId)) !== undefined) await finishStopwatch(tx, issueId, userId);
  });
}

/** The caller's stopwatches that run. */
export async function listStopwatches(
  context: Context,
  caller: Caller,
  query: { page?: string | undefined; limit?: string | undefined },
): Promise<ListPage> {
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const { rows, total } = await stopwatches.listOf(tx, viewerOf(caller), page);
  return { page, total, items: rows.map((row) => stopwatchJson(row, context.clock.now())) };
}

function mayStillTrack(taken: stopwatches.TakenStopwatch, userId: number): boolean {
  const isOpen = taken.is_open && (taken.is_writer || !taken.is_locked);
  return isOpen && decideTracking(taken, { userId, isWriter: taken.is_writer }, taken) === 'allowed';
}

/** Where no time is noted that is 403 here, as in the reference. */
const findIssueForStopwatch = (context: Context, caller: Caller, path: NumberedPath) =>
  findIssueToTrack(context, caller, path, () => forbidden('time tracking disabled'));

async function note(
  tx: Tx,
  issueId: number,
  userId: number,
  startedAt: Date,
  endedAt = tx.now,
): Promise<void> {
  const elapsed = Math.floor((endedAt.getTime() - startedAt.getTime()) / 1000);
  const seconds = Math.min(Math.max(elapsed, 0), MAX_SECONDS);
  const row = await trackedTimes.insert(tx, { issueId, userId, seconds, at: tx.now });
  await comments.add(tx, {
    issueId,
    kind: 'stop_tracking',
    posterId: userId,
    body: durationText(seconds),
    details: { tracked_time: row.id },
  });
}
