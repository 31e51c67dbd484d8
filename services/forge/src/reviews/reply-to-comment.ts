import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest, notFound, unacceptable } from '../failures.ts';
import { findPull } from '../pulls/find-pull.ts';
import { mayRead } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as timeline from '../store/issues/timeline.ts';
import * as reviewComments from '../store/reviews/review-comments.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { checkMayReview, isOfficial } from './check-may-review.ts';
import type { ReviewPath } from './find-review.ts';
import { holdPull } from './hold-pull.ts';
import { tellSubmission } from './record-submission.ts';
import { presentReviewComments } from './review-comment-json.ts';

/**
 * Answers a comment on a line, at the same line and about the same commit, wherever the head is by now: a review of its own,
 * so that one the caller has pending stays so.
 * @throws 400 for a comment on no line, 403, 404, also for one that is pending, 422 without a text, 423
 */
export async function replyToComment(
  context: Context,
  caller: Caller,
  path: ReviewPath,
  body: string,
): ReturnType<typeof presentReviewComments> {
  const found = await findPull(context, caller, path);
  if (!mayRead(found, 'code')) throw notFound();
  checkMayReview(found);
  if (body.trim() === '') throw unacceptable('[Body]: Required');
  checkText(body);
  const answeredId = readId(path.id);
  const official = await isOfficial(context, caller, found);
  const rows = await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    const answered = await timeline.findById(tx, pull.repository_id, answeredId, viewerOf(caller));
    if (answered?.issue_id !== pull.issue_id) throw notFound();
    const place = await reviewComments.findPlace(tx, answeredId);
    if (place === undefined) throw badRequest('it is no comment on a line of code');
    const { path: file, line, commit_sha: commitSha, diff_hunk: hunk } = place;
    const reviewerId = caller.userId;
    const id = await reviews.insertComment(tx, { pullId: pull.id, reviewerId, commitSha, official });
    const review = { id, issueId: pull.issue_id, posterId: reviewerId, commitSha };
    await reviewComments.addAll(tx, review, [{ path: file, line, hunk, body }]);
    await tellSubmission(tx, pull, reviewerId, { id, kind: 'COMMENT', body: '' });
    return (await reviewComments.list(tx, id, { limit: 1, offset: 0, bytes: 1 })).rows;
  });
  return await presentReviewComments(context, caller, found, rows);
}
