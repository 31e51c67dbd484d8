import type { Context } from '../context.ts';
import { readMentions } from '../rules/texts/mentions.ts';
import type { Notice } from '../store/events/notifications.ts';
import * as comments from '../store/issues/comments.ts';
import type { Happening, IssueEvent } from './announce.ts';
import type { Place } from './place.ts';

/** What people are told of; the rest is for hooks only. */
const AUDIENCES: Partial<Record<IssueEvent['action'], Notice['audience']>> = {
  opened: 'everybody',
  closed: 'everybody',
  reopened: 'everybody',
  assigned: 'assignees',
};

/** Who is to be told of something; undefined when nobody is. */
export async function noticeOf(
  { database }: Context,
  eventId: number,
  happening: Happening,
  { repositoryId, issue }: Place,
): Promise<Notice | undefined> {
  if (issue === undefined) return undefined;
  const { actorId } = happening;
  const notice = { eventId, repositoryId, issueId: issue.id, isPull: issue.is_pull, actorId };
  if (happening.kind === 'issue') {
    const audience = AUDIENCES[happening.action];
    if (audience === undefined) return undefined;
    const mentioned = happening.action === 'opened' ? readMentions(`${issue.title}\n${issue.body}`) : [];
    return { ...notice, audience, commentId: null, mentioned };
  }
  if (happening.kind !== 'comment' || happening.action !== 'created') return undefined;
  const comment = await comments.findById(database.autocommit(), repositoryId, happening.commentId);
  if (comment === undefined) return undefined;
  return { ...notice, audience: 'everybody', commentId: comment.id, mentioned: readMentions(comment.body) };
}
