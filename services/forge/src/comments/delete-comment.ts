import { removeFiles } from '../attachments/remove-files.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import * as comments from '../store/issues/comments.ts';
import * as references from '../store/issues/references.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { type CommentPath, checkMayChange, findComment, locked, moderates } from './find-comment.ts';

/**
 * Deletes what somebody wrote: its author may, and writers. Other entries stay, for they are what happened.
 * @throws 403, 404, 423
 */
export async function deleteComment(context: Context, caller: Caller, path: CommentPath): Promise<void> {
  const found = await findComment(context, caller, path);
  const { comment, repository } = found;
  checkMayChange(caller, found);
  checkNotArchived(found);
  if (comment.kind !== 'comment') return;
  const files = await context.database.transaction(async (tx) => {
    const issue = await comments.holdIssue(tx, comment.issue_id);
    if (issue === undefined) throw notFound();
    if (issue.locked && !moderates(found, issue)) throw locked();
    const assets = await attachments.mapByComments(tx, [comment.id]);
    const removed = await comments.remove(tx, comment.id);
    if (removed === undefined) throw notFound();
    await references.removeOf(tx, references.commentKey(comment.id));
    const event = { repositoryId: repository.id, actorId: caller.userId, issueId: issue.id };
    const deleted = {
      posterId: removed.poster_id,
      createdAt: removed.created_at,
      updatedAt: removed.updated_at,
    };
    const about = { commentId: comment.id, from: removed.body, deleted };
    await announce(tx, { ...event, kind: 'comment', action: 'deleted', ...about });
    return assets.get(comment.id) ?? [];
  });
  await removeFiles(context, files);
}
