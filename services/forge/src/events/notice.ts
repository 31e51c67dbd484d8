import type { Context } from '../context.ts';
import { reviewTexts } from '../reviews/review-texts.ts';
import { MAX_MENTIONS, readMentions } from '../rules/texts/mentions.ts';
import type { Notice } from '../store/events/notifications.ts';
import * as comments from '../store/issues/comments.ts';
import * as reviews from '../store/reviews/reviews.ts';
import type { Happening, IssueEvent } from './announce.ts';
import type { Place } from './place.ts';

/** What everybody is told of who watches, takes part or is mentioned. Of `assigned` only who it is; the rest is for hooks. */
const FOR_EVERYBODY: readonly IssueEvent['action'][] = ['opened', 'closed', 'reopened'];

/** Who is to be told of something; undefined when nobody is. */
export async function noticeOf(
  context: Context,
  eventId: number,
  happening: Happening,
  { repositoryId, issue }: Place,
): Promise<Notice | undefined> {
  if (issue === undefined) return undefined;
  const { database } = context;
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
    if (!(await reviews.isSubmitted(database.autocommit(), happening.reviewId))) return undefined;
    return { ...notice, mentioned: await readMentionsOf(context, issue.id, happening.reviewId) };
  }
  if (happening.kind !== 'comment' || happening.action !== 'created') return undefined;
  const comment = await comments.findById(database.autocommit(), repositoryId, happening.commentId);
  if (comment === undefined) return undefined;
  return { ...notice, commentId: comment.id, mentioned: readMentions(comment.body) };
}

/** Whom a review names, as a whole and on lines; no more than one text may. */
async function readMentionsOf(context: Context, issueId: number, reviewId: number): Promise<string[]> {
  const names = new Set<string>();
  for await (const { body } of reviewTexts(context, issueId, reviewId)) {
    for (const name of readMentions(body)) names.add(name);
    if (names.size >= MAX_MENTIONS) break;
  }
  return [...names].slice(0, MAX_MENTIONS);
}
