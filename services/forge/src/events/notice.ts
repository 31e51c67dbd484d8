import type { Context } from '../context.ts';
import { readMentions } from '../rules/texts/mentions.ts';
import type { Notice } from '../store/events/notifications.ts';
import * as comments from '../store/issues/comments.ts';
import * as reviews from '../store/reviews/reviews.ts';
import type { Happening, IssueEvent } from './announce.ts';
import type { Place } from './place.ts';

/** What everybody is told of who watches, takes part or is mentioned. Of `assigned` only who it is; the rest is for hooks. */
const FOR_EVERYBODY: readonly IssueEvent['action'][] = ['opened', 'closed', 'reopened'];

/** Who is to be told of something; undefined when nobody is. */
export async function noticeOf(
  { database }: Context,
  eventId: number,
  happening: Happening,
  { repositoryId, issue }: Place,
): Promise<Notice | undefined> {
  if (issue === undefined) return undefined;
  const { actorId } = happening;
  const about = { eventId, repositoryId, issueId: issue.id, isPull: issue.is_pull, actorId };
  const notice = { ...about, onlyAssignee: null, onlyAsked: null, commentId: null, mentioned: [] };
  if (happening.kind === 'issue') {
    const { action, assigneeId, asked } = happening;
    if (action === 'assigned' && assigneeId !== undefined) {
      return { ...notice, onlyAssignee: assigneeId };
    }
    if (action === 'review_requested' && asked !== undefined) return { ...notice, onlyAsked: asked };
    if (!FOR_EVERYBODY.includes(action)) return undefined;
    const mentioned = action === 'opened' ? readMentions(`${issue.title}\n${issue.body}`) : [];
    return { ...notice, mentioned };
  }
  if (happening.kind === 'review') {
    const tx = database.autocommit();
    const [body, texts] = await Promise.all([
      reviews.findBody(tx, happening.reviewId),
      comments.listOfReview(tx, issue.id, happening.reviewId),
    ]);
    if (body === undefined) return undefined;
    return { ...notice, mentioned: readMentions(texts.map((text) => text.body).join('\n\n')) };
  }
  if (happening.kind !== 'comment' || happening.action !== 'created') return undefined;
  const comment = await comments.findById(database.autocommit(), repositoryId, happening.commentId);
  if (comment === undefined) return undefined;
  return { ...notice, commentId: comment.id, mentioned: readMentions(comment.body) };
}
