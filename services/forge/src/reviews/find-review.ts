import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findPull, type VisiblePull } from '../pulls/find-pull.ts';
import { viewerOf } from '../rules/access/permission.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as reviews from '../store/reviews/reviews.ts';

/** What a path says of a review. */
export interface ReviewPath extends NumberedPath {
  id: string;
}

/** A review the caller may see, with its pull request. */
export interface VisibleReview extends VisiblePull {
  review: reviews.ReviewEntry;
}

/**
 * The review a path names, or the request for one.
 * @throws 404, for those of other pull requests and for somebody else's that is pending, too
 */
export async function findReview(
  context: Context,
  caller: Caller | undefined,
  path: ReviewPath,
): Promise<VisibleReview> {
  const found = await findPull(context, caller, path);
  const tx = context.database.autocommit();
  const [review] = await reviews.listByIds(tx, found.pull.id, viewerOf(caller), [readId(path.id)]);
  if (review === undefined) throw notFound();
  return { ...found, review };
}
