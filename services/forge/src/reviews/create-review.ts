import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findPull } from '../pulls/find-pull.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { decideReviewKind } from '../rules/pulls/review.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as reviewComments from '../store/reviews/review-comments.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { checkMayReview, isOfficial } from './check-may-review.ts';
import { holdPull } from './hold-pull.ts';
import { MAX_COMMENT_BYTES, MAX_COMMENTS } from './list-reviews.ts';
import { locateComments, readReviewedCommit, type WantedComment } from './locate-comments.ts';
import { recordSubmission } from './record-submission.ts';

/** What somebody says of a pull request. */
export interface WantedReview {
  event: string;
  body: string;
  commitId: string;
  comments: readonly WantedComment[];
}

/**
 * Reviews a pull request. Somebody has one pending review at most: what he says next is added to it, and goes out with
 * it once he approves, requests changes or comments.
 * @returns the id of the review
 * @throws 403, 404, 422, 423
 */
export async function createReview(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedReview,
): Promise<number> {
  const found = await findPull(context, caller, path);
  checkMayReview(found);
  const body = checkText(wanted.body);
  const decide = (pull: PullWithIssue, pending: number) =>
    decideReviewKind(
      wanted.event,
      { body, hasComments: wanted.comments.length + pending > 0 },
      { isMine: pull.poster_id === caller.userId, isClosed: pull.closed_at !== null },
    );
  // Whether a comment may do without a text depends on those that are pending; the rest is refused at once.
  decide(found.pull, 1);
  const commitSha = await readReviewedCommit(context, found, wanted.commitId);
  const located = await locateComments(context, found, commitSha, wanted.comments);
  const official = await isOfficial(context, caller, found);
  const { base_branch: base } = found.pull;
  return await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    const pending = await reviews.lockPending(tx, pull.id, caller.userId);
    const before =
      pending === undefined ? { count: 0, bytes: 0 } : await reviewComments.measure(tx, pending.id);
    const kind = decide(pull, before.count);
    checkSize(before.count + located.length, before.bytes + bytesOf(located));
    const id = await writePending(tx, pull, pending, { reviewerId: caller.userId, body, commitSha });
    const place = { id, issueId: pull.issue_id, posterId: caller.userId, commitSha };
    await reviewComments.addAll(tx, place, located);
    if (kind !== 'PENDING')
      await recordSubmission(tx, pull, caller.userId, { id, kind, body, commitSha, official, base });
    return id;
  });
}

/** @throws 422 */
function checkSize(count: number, bytes: number): void {
  if (count > MAX_COMMENTS) throw unacceptable(`[Comments]: MaxSize(${MAX_COMMENTS})`);
  if (bytes > MAX_COMMENT_BYTES)
    throw unacceptable(`[Comments]: texts of more than ${MAX_COMMENT_BYTES} bytes together`);
}

const bytesOf = (comments: readonly { body: string }[]) =>
  comments.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);

async function writePending(
  tx: Tx,
  pull: PullWithIssue,
  pending: reviews.ReviewRow | undefined,
  said: { reviewerId: number; body: string; commitSha: string },
): Promise<number> {
  if (pending === undefined) return (await reviews.insert(tx, { pullId: pull.id, ...said })).id;
  await reviews.update(tx, pending.id, said);
  return pending.id;
}
