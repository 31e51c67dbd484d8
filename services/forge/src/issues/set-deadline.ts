import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { deadlineOf } from '../rules/issues/deadline.ts';
import { changeIssue } from './change-issue.ts';
import { findIssue, type NumberedPath } from './find-issue.ts';

/**
 * Sets the deadline of an issue or pull request.
 * @param deadline null, absent and Go's zero time remove it
 * @returns the moment it is stored as
 * @throws 403 for others than writers, 404, 423
 */
export async function setDeadline(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  deadline: string | null | undefined,
): Promise<Date | null> {
  const found = await findIssue(context, caller, path);
  if (!mayWrite(found, found.issue.is_pull ? 'pulls' : 'issues')) throw forbidden('Not repo writer');
  checkNotArchived(found);
  const isNone = typeof deadline !== 'string' || deadlineOf(deadline) === undefined;
  const edit = { deadline, removeDeadline: isNone, actorId: caller.userId, isWriter: true };
  const after = await context.database.transaction((tx) => changeIssue(tx, found.issue.id, edit));
  return after.deadline_at;
}
