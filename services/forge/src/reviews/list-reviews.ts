import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { type ListPage, pageOf } from '../list-answer.ts';
import { findPull } from '../pulls/find-pull.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as reviewComments from '../store/reviews/review-comments.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { findReview, type ReviewPath } from './find-review.ts';
import { presentReviewComments } from './review-comment-json.ts';
import { presentReviews } from './review-json.ts';

interface PageQuery {
  page?: string | undefined;
  limit?: string | undefined;
}

/** More comments are no review. */
export const MAX_COMMENTS = 500;

/** A page of the reviews of a pull request and of the requests for some, oldest first. */
export async function listReviews(
  context: Context,
  viewer: Caller | undefined,
  path: NumberedPath,
  query: PageQuery,
): Promise<ListPage> {
  const found = await findPull(context, viewer, path);
  const page = pageOf(context, query);
  const tx = context.database.autocommit();
  const { rows, total } = await reviews.list(tx, found.pull.id, viewerOf(viewer), page);
  return { page, total, items: await presentReviews(context, viewer, found, rows) };
}

/** The comments of a review: all, as clients of the reference expect them, unless the request asks for a page. */
export async function listReviewComments(
  context: Context,
  viewer: Caller | undefined,
  path: ReviewPath,
  query: PageQuery,
): Promise<ListPage> {
  const found = await findReview(context, viewer, path);
  const isPaged = query.page !== undefined || query.limit !== undefined;
  const page = isPaged ? pageOf(context, query) : { page: 1, limit: MAX_COMMENTS, offset: 0 };
  const rows = await reviewComments.list(context.database.autocommit(), found.review.id, page);
  const items = await presentReviewComments(context, viewer, found, rows);
  return { page, total: found.review.comments_count, items };
}
