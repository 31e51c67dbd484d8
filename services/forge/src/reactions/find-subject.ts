import type { Caller } from '../caller/caller.ts';
import { type CommentPath, findComment, unitOf } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { findIssue, type NumberedPath } from '../issues/find-issue.ts';
import { mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import { isWritten } from '../store/issues/comments.ts';

/** An issue or a comment, as far as others hang something at it. */
export interface Subject {
  found: VisibleRepository;
  issueId: number;
  /** Null for the issue itself. */
  commentId: number | null;
  posterId: number | null;
  locked: boolean;
  /** Whether the caller may write, also where the conversation is locked. */
  moderates: boolean;
}

/**
 * What a path names: by the number of an issue, or the id of a comment.
 * @throws 404, also for an entry that is no comment
 */
export async function findSubject(
  context: Context,
  caller: Caller | undefined,
  path: NumberedPath | CommentPath,
): Promise<Subject> {
  if ('index' in path) {
    const found = await findIssue(context, caller, path);
    const { issue } = found;
    const moderates = mayWrite(found, unitOf(issue.is_pull));
    const locked = issue.locked_at !== null;
    return { found, issueId: issue.id, commentId: null, posterId: issue.poster_id, locked, moderates };
  }
  const found = await findComment(context, caller, path);
  const { comment } = found;
  if (!isWritten(comment)) throw notFound();
  return {
    found,
    issueId: comment.issue_id,
    commentId: comment.id,
    posterId: comment.poster_id,
    locked: comment.issue_locked,
    moderates: mayWrite(found, unitOf(comment.issue_is_pull)),
  };
}
