import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import * as comments from '../store/issues/comments.ts';
import { locked, moderates } from './find-comment.ts';

/**
 * Writes a comment: whoever may read may do it, unless the issue is locked.
 * @returns its id
 * @throws 403, 404, 422, 423
 */
export async function createComment(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  body: string,
): Promise<number> {
  const found = await findIssue(context, caller, path);
  const { repository, issue } = found;
  checkNotArchived(found);
  const evenLocked = moderates(found, issue);
  if (issue.locked_at !== null && !evenLocked) throw locked();
  checkText(body);
  return await context.database.transaction(async (tx) => {
    const comment = await comments.write(tx, {
      issueId: issue.id,
      posterId: caller.userId,
      body,
      evenLocked,
    });
    if (comment === undefined) {
      // Locked, or deleted, since we looked.
      throw (await comments.holdIssue(tx, issue.id)) === undefined ? notFound() : locked();
    }
    const event = { repositoryId: repository.id, actorId: caller.userId, issueId: issue.id };
    await announce(tx, { ...event, kind: 'comment', action: 'created', commentId: comment.id });
    return comment.id;
  });
}
