import { removeFiles } from '../attachments/remove-files.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import * as issues from '../store/issues/issues.ts';
import * as reviews from '../store/reviews/reviews.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { findReview, type ReviewPath } from './find-review.ts';
import { holdPull } from './hold-pull.ts';

/**
 * Takes a review back, with its comments and their files: its author may, and site administrators.
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
  const files = await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    if ((await reviews.lockById(tx, pull.id, review.id)) === undefined) throw notFound();
    const gone = await attachments.deleteOfReview(tx, pull.issue_id, review.id);
    await reviews.remove(tx, review, pull.issue_id);
    await issues.touch(tx, pull.issue_id);
    return gone;
  });
  await removeFiles(context, files);
}
