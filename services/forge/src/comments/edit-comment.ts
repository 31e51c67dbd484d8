import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import { type CommentPath, checkMayChange, findComment, locked, moderates } from './find-comment.ts';

/**
 * Changes what somebody wrote: its author may, and writers.
 * @returns false when the entry is nothing anybody wrote
 * @throws 403, 404, 422, 423
 */
export async function editComment(
  context: Context,
  caller: Caller,
  path: CommentPath,
  body: string,
): Promise<boolean> {
  const found = await findComment(context, caller, path);
  const { comment, repository } = found;
  checkMayChange(caller, found);
  checkNotArchived(found);
  if (!comments.isWritten(comment)) return false;
  checkText(body);
  await context.database.transaction(async (tx) => {
    // The issue first, as everywhere.
    const issue = await comments.holdIssue(tx, comment.issue_id);
    const current = await comments.lockWritten(tx, comment.id);
    if (issue === undefined || current === undefined) throw notFound();
    if (issue.locked && !moderates(found, issue)) throw locked();
    if (current.body === body) return;
    await comments.updateBody(tx, comment.id, body);
    await issues.touch(tx, issue.id);
    const event = { repositoryId: repository.id, actorId: caller.userId, issueId: issue.id };
    const about = { commentId: comment.id, from: current.body };
    await announce(tx, { ...event, kind: 'comment', action: 'edited', ...about });
  });
  return true;
}
