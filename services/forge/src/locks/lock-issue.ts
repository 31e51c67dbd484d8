import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';

import * as comments from '../store/issues/comments.ts';
import * as locks from '../store/issues/locks.ts';
import { findIssueToModerate } from './find-issue-to-moderate.ts';

const MAX_REASON = 255;

/**
 * Locks the conversation of an issue: from now on only writers say and change something. Locked already, it stays as
 * it is.
 * @throws 403 for others than writers, 404, 422, 423
 */
export async function lockIssue(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  reason: string,
): Promise<void> {
  if (reason.length > MAX_REASON) throw unacceptable(`[LockReason]: MaxSize(${MAX_REASON})`);
  await change(context, caller, path, { reason });
}

/** Opens the conversation again. */
export async function unlockIssue(context: Context, caller: Caller, path: NumberedPath): Promise<void> {
  await change(context, caller, path, undefined);
}

async function change(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  lock: { reason: string } | undefined,
): Promise<void> {
  const { issue } = await findIssueToModerate(context, caller, path);
  await context.database.transaction(async (tx) => {
    const held = await comments.holdIssue(tx, issue.id);
    if (held === undefined) throw notFound();
    if (held.locked === (lock !== undefined)) return;
    await locks.update(tx, issue.id, lock?.reason);
    const kind = lock === undefined ? 'unlock' : 'lock';
    await comments.add(tx, { issueId: issue.id, kind, posterId: caller.userId, body: lock?.reason ?? '' });
  });
}
