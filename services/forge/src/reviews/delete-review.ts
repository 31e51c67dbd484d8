import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import * as issues from '../store/issues/issues.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { findReview, type ReviewPath } from './find-review.ts';
import { holdPull } from './hold-pull.ts';

/**
 * Takes a review back, with its comments: its author may, and site administrators.
 * @throws 403, 404, 422 for a request, which is withdrawn elsewhere, 423
 */
export async function deleteReview(context: Context, caller: Caller, path: ReviewPath): Promise<void> {
  const found = await findReview(context, caller, path);
  const { review } = found;
  if (!caller.isAdmin && review.reviewer_id !== caller.userId)
    throw forbidden('only the author may delete a review');
  if (review.state === 'REQUEST_REVIEW')
    throw unacceptable('a request is withdrawn with DELETE requested_reviewers');
  checkNotArchived(found);
  await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    if ((await reviews.lockById(tx, pull.id, review.id)) === undefined) throw notFound();
    await reviews.remove(tx, review, pull.issue_id);
    await issues.touch(tx, pull.issue_id);
  });
}
