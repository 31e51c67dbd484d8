import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { type ListPage, loadRest, PART_BYTES, pageOf } from '../list-answer.ts';
import { findPull } from '../pulls/find-pull.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { planBeginning } from '../rules/requests/paging.ts';
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
/** Nor are texts of more bytes together. Only edited afterwards they may have them. */
export const MAX_COMMENT_BYTES = 8 * 1024 * 1024;
/** Clients of the reference read them at once; of those with more text they get the beginning, and a `Link` to the rest. */
const WHOLE_REVIEW = { limit: MAX_COMMENTS, offset: 0, bytes: 9 * 1024 * 1024 };

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
  const reader = viewerOf(viewer);
  const slice = await reviews.list(tx, found.pull.id, reader, { ...page, bytes: PART_BYTES });
  const present = ({ rows }: typeof slice) => presentReviews(context, viewer, found, rows);
  const load = (ids: readonly number[]) => reviews.listLeft(tx, found.pull.id, reader, ids, PART_BYTES);
  return { page, total: slice.total, items: await present(slice), rest: loadRest(slice, load, present) };
}

/** The comments of a review: a page where one is asked for, else all, as far as an answer may be. */
export async function listReviewComments(
  context: Context,
  viewer: Caller | undefined,
  path: ReviewPath,
  query: PageQuery,
): Promise<ListPage> {
  const found = await findReview(context, viewer, path);
  const isPaged = query.page !== undefined || query.limit !== undefined;
  const page = pageOf(context, query);
  const part = isPaged ? { ...page, bytes: PART_BYTES } : WHOLE_REVIEW;
  const tx = context.database.autocommit();
  const slice = await reviewComments.list(tx, found.review.id, part);
  const total = found.review.comments_count;
  const present = (rows: typeof slice.rows) => presentReviewComments(context, viewer, found, rows);
  if (isPaged) {
    const load = (ids: readonly number[]) => reviewComments.listLeft(tx, ids, PART_BYTES);
    const rest = loadRest(slice, load, ({ rows }) => present(rows));
    return { page, total, items: await present(slice.rows), rest };
  }
  const beginning = planBeginning(slice.rows.length, total, context.settings.MAX_RESPONSE_ITEMS);
  const items = await present(slice.rows.slice(0, beginning?.shown));
  return { page: { page: 1, limit: MAX_COMMENTS, offset: 0 }, total, beginning, items };
}
