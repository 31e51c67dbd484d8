import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { decideReviewKind } from '../rules/pulls/review.ts';
import * as reviewComments from '../store/reviews/review-comments.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { checkMayReview, isOfficial } from './check-may-review.ts';
import { findReview, type ReviewPath } from './find-review.ts';
import { holdPull } from './hold-pull.ts';
import { notPending, recordSubmission } from './record-submission.ts';

/**
 * Submits a pending review, with another text if the request has one.
 * @throws 403, 404 for somebody else's, 422 when it is pending no more or would stay so, 423
 */
export async function submitReview(
  context: Context,
  caller: Caller,
  path: ReviewPath,
  wanted: { event: string; body: string | undefined },
): Promise<void> {
  const found = await findReview(context, caller, path);
  checkMayReview(found);
  if (found.review.state !== 'PENDING') throw notPending();
  if (wanted.body !== undefined) checkText(wanted.body);
  const official = await isOfficial(context, caller, found);
  const { base_branch: base } = found.pull;
  await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    const review = await reviews.lockById(tx, pull.id, found.review.id);
    if (review?.kind !== 'PENDING') throw notPending();
    const body = wanted.body ?? review.body;
    const hasComments = (await reviewComments.measure(tx, review.id)).count > 0;
    const state = { isMine: pull.poster_id === caller.userId, isClosed: pull.closed_at !== null };
    const kind = decideReviewKind(wanted.event, { body, hasComments }, state);
    if (kind === 'PENDING') throw unacceptable('review stay pending');
    const { id, commit_sha: commitSha } = review;
    await recordSubmission(tx, pull, caller.userId, { id, kind, body, commitSha, official, base });
  });
}
