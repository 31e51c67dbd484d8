import type { Tx } from '@croft/sql';
import { announce } from '../events/announce.ts';
import * as comments from '../store/issues/comments.ts';
import * as reviewRequests from '../store/reviews/review-requests.ts';

/** Somebody or a team that is to review a pull request. */
export type ReviewWish = reviewRequests.Asked;

/** A pull request, and who wants something of it. */
export interface RequestPlace {
  pullId: number;
  issueId: number;
  repositoryId: number;
  actorId: number;
}

/**
 * Asks for reviews, in the timeline and for everybody who wants to know. Who is asked already is not asked again.
 * @returns the ids of the requests that are new
 */
export async function addRequests(
  tx: Tx,
  place: RequestPlace,
  wished: readonly ReviewWish[],
): Promise<number[]> {
  const made: number[] = [];
  for (const one of wished) {
    const id = await reviewRequests.add(tx, place.pullId, one, place.actorId);
    if (id === undefined) continue;
    made.push(id);
    await tellRequest(tx, place, one, 'review_requested');
  }
  return made;
}

/** Tells of a request that came or went. */
export async function tellRequest(
  tx: Tx,
  { issueId, repositoryId, actorId }: Omit<RequestPlace, 'pullId'>,
  { reviewerId, teamId }: { reviewerId: number | null; teamId: number | null },
  action: 'review_requested' | 'review_request_removed',
): Promise<void> {
  const who = reviewerId === null ? { assignee_team: teamId } : { assignee: reviewerId };
  const details = { ...who, removed_assignee: action === 'review_request_removed' };
  await comments.add(tx, { issueId, posterId: actorId, kind: 'review_request', details });
  const asked = { reviewerId, teamId };
  await announce(tx, { kind: 'issue', action, asked, issueId, repositoryId, actorId });
}
