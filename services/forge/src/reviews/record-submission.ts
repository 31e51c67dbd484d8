import type { Tx } from '@croft/sql';
import { announce } from '../events/announce.ts';
import { unacceptable } from '../failures.ts';
import { isVerdict } from '../rules/pulls/review.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as reviewComments from '../store/reviews/review-comments.ts';
import * as reviewRequests from '../store/reviews/review-requests.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { judgeAnew } from './judge-anew.ts';
import type { ReviewKind } from './review-kind.ts';

const TOLD = { APPROVED: 'approved', REQUEST_CHANGES: 'rejected', COMMENT: 'comment' } as const;

/**
 * Lets everybody see a pending review, and tells them. The caller holds the issue, so that the head stays where it is.
 * @throws 422 when somebody else was faster
 */
export async function recordSubmission(
  tx: Tx,
  pull: PullWithIssue,
  reviewerId: number,
  review: {
    id: number;
    kind: Exclude<ReviewKind, 'PENDING'>;
    body: string;
    commitSha: string;
    official: boolean;
    /** The base branch that was decided for. */
    base: string;
  },
): Promise<void> {
  // An approval for a base that it has no more is one of those that a change of the base takes back.
  const official = review.official && (review.kind !== 'APPROVED' || review.base === pull.base_branch);
  if (!(await reviews.submit(tx, review.id, { ...review, official }))) throw notPending();
  if (review.base !== pull.base_branch) await judgeAnew(tx, pull, pull.base_branch);
  await reviewRequests.fulfil(tx, pull.id, reviewerId, isVerdict(review.kind));
  await tellSubmission(tx, pull, reviewerId, review);
}

/** Lets everybody see the comments of a review that was just submitted, and tells of it. The caller holds the issue. */
export async function tellSubmission(
  tx: Tx,
  pull: PullWithIssue,
  reviewerId: number,
  review: { id: number; kind: Exclude<ReviewKind, 'PENDING'>; body: string },
): Promise<void> {
  await reviewComments.publish(tx, review.id);
  const { issue_id: issueId, repository_id: repositoryId } = pull;
  const entry = { kind: 'review', body: review.body, details: { review_id: review.id } };
  await comments.add(tx, { issueId, posterId: reviewerId, ...entry });
  await issues.touch(tx, issueId);
  const verdict = TOLD[review.kind];
  const about = { issueId, repositoryId, actorId: reviewerId };
  await announce(tx, { kind: 'review', verdict, reviewId: review.id, ...about });
}

/** What everybody has seen stays what it is. */
export const notPending = () => unacceptable('only pending reviews can be submitted');
