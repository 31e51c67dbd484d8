import type { Context } from '../context.ts';
import { PART_BYTES } from '../list-answer.ts';
import * as comments from '../store/issues/comments.ts';

/**
 * What a submitted review says, as a whole first and then on lines, without empty texts. No more is loaded at once than of a list:
 * there may be hundreds of a megabyte.
 */
export async function* reviewTexts(
  { database }: Context,
  issueId: number,
  reviewId: number,
): AsyncGenerator<comments.CommentRow> {
  const tx = database.autocommit();
  let part = await comments.listOfReview(tx, issueId, reviewId, PART_BYTES);
  yield* part.rows;
  while (part.left.length > 0) {
    part = await comments.listLeft(tx, part.left, PART_BYTES);
    yield* part.rows;
  }
}
