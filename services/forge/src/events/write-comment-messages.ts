import { presentComments } from '../comments/present-comments.ts';
import type { Context } from '../context.ts';
import type { HookEventType } from '../rules/events/hook-events.ts';
import * as comments from '../store/issues/comments.ts';
import type { CommentEvent } from './announce.ts';
import { presentIssueOf, presentPullOf, type Subject } from './write-issue-messages.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of a comment. */
export async function writeCommentMessages(
  context: Context,
  event: CommentEvent,
  subject: Subject,
  type: HookEventType,
): Promise<HookMessage[]> {
  const { issue, repository, sender } = subject;
  const comment = await presentComment(context, event, subject);
  if (comment === undefined) return [];
  const payload = {
    action: event.action,
    issue: await presentIssueOf(context, subject),
    ...(issue.is_pull ? { pull_request: await presentPullOf(context, subject) } : {}),
    comment,
    ...(event.action === 'edited' ? { changes: { body: { from: event.from ?? '' } } } : {}),
    repository,
    sender,
    is_pull: issue.is_pull,
  };
  return [{ type, payload }];
}

/** The comment as it is, or as it was when it was deleted; undefined when it went away after what is told here. */
async function presentComment(
  context: Context,
  event: CommentEvent,
  { found, issue }: Subject,
): Promise<object | undefined> {
  const tx = context.database.autocommit();
  const row =
    event.action === 'deleted'
      ? {
          ...deletedComment(event),
          issue_number: issue.number,
          issue_is_pull: issue.is_pull,
          issue_locked: false,
        }
      : await comments.findById(tx, issue.repository_id, event.commentId);
  return row && (await presentComments(context, undefined, found, [row]))[0];
}

function deletedComment({ commentId, issueId, from = '', deleted }: CommentEvent): comments.CommentRow {
  const time = (value: Date | string | undefined) => new Date(value ?? 0);
  return {
    id: commentId,
    issue_id: issueId,
    kind: 'comment',
    poster_id: deleted?.posterId ?? null,
    body: from,
    details: {},
    content_version: 0,
    created_at: time(deleted?.createdAt),
    updated_at: time(deleted?.updatedAt),
  };
}
