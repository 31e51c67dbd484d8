import type { Caller } from '../caller/caller.ts';
import { findComment } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import { badRequest, forbidden, notFound } from '../failures.ts';
import { findPull } from '../pulls/find-pull.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import * as reviewComments from '../store/reviews/review-comments.ts';
import { isOfficial } from './check-may-review.ts';
import { holdPull } from './hold-pull.ts';

/**
 * Says that what a comment on a line is about is settled, or is not any more: the poster of the pull request may, those
 * who write and those whose reviews count. Doing it twice changes nothing.
 * @throws 400 for a comment on no line, 403, 404, also for one that is pending, 423
 */
export async function resolveComment(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string; id: string },
  isSettled: boolean,
): Promise<void> {
  const { comment } = await findComment(context, caller, path);
  if (!comment.issue_is_pull) throw notFound();
  if (comment.kind !== 'code') throw badRequest('it is no comment on a line of code');
  const found = await findPull(context, caller, { ...path, index: String(comment.issue_number) });
  const may =
    mayWrite(found, 'pulls') ||
    found.pull.poster_id === caller.userId ||
    (await isOfficial(context, caller, found));
  if (!may) throw forbidden('user should be the poster, a reviewer or a writer of the pull request');
  checkNotArchived(found);
  await context.database.transaction(async (inside) => {
    await holdPull(inside, found);
    await reviewComments.setResolver(inside, comment.id, isSettled ? caller.userId : null);
  });
}
