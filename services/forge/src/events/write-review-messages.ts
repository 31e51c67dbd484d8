import type { Context } from '../context.ts';
import type { HookEventType } from '../rules/events/hook-events.ts';
import * as reviews from '../store/reviews/reviews.ts';
import type { ReviewEvent } from './announce.ts';
import { presentPullOf, type Subject } from './write-issue-messages.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of a review; nothing once it is deleted. */
export async function writeReviewMessages(
  context: Context,
  { reviewId }: ReviewEvent,
  subject: Subject,
  type: HookEventType,
): Promise<HookMessage[]> {
  const { issue, repository, sender } = subject;
  const body = await reviews.findBody(context.database.autocommit(), reviewId);
  if (body === undefined) return [];
  const payload = {
    action: 'reviewed',
    number: issue.number,
    pull_request: await presentPullOf(context, subject),
    requested_reviewer: sender,
    repository,
    sender,
    commit_id: '',
    review: { type, content: body },
  };
  return [{ type, payload }];
}
