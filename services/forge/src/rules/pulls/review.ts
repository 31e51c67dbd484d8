import { unacceptable } from '../../failures.ts';
import type { ReviewKind } from '../../reviews/review-kind.ts';

const KINDS: readonly ReviewKind[] = ['PENDING', 'APPROVED', 'REQUEST_CHANGES', 'COMMENT'];

/** Whether a review of this kind takes part in the decision to merge, so that it can be stale or dismissed. */
export const isVerdict = (kind: string) => kind === 'APPROVED' || kind === 'REQUEST_CHANGES';

/**
 * What a review is to be; an event that is none leaves it pending, as in the reference.
 * @throws 422 for a verdict on one's own pull request or on one that is closed, and when nothing is said
 */
export function decideReviewKind(
  event: string,
  said: { body: string; hasComments: boolean },
  pull: { isMine: boolean; isClosed: boolean },
): ReviewKind {
  const kind = KINDS.find((one) => one === event) ?? 'PENDING';
  if (isVerdict(kind) && pull.isMine)
    throw unacceptable(`${kind === 'APPROVED' ? 'approve' : 'reject'} your own pull is not allowed`);
  if (isVerdict(kind) && pull.isClosed)
    throw unacceptable("can't submit review for a closed or merged pull request");
  if (kind === 'APPROVED' || said.body.trim() !== '') return kind;
  if (kind === 'COMMENT' && said.hasComments) return kind;
  throw unacceptable(`review event ${kind} requires a body${kind === 'COMMENT' ? ' or a comment' : ''}`);
}
