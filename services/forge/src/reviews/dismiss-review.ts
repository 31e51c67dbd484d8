import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound } from '../failures.ts';
import { checkAdmin, checkNotArchived } from '../repositories/find-repository.ts';
import { checkText } from '../rules/issues/text-limits.ts';
import { isVerdict } from '../rules/pulls/review.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { findReview, type ReviewPath } from './find-review.ts';
import { holdPull } from './hold-pull.ts';
import { judgeBroughtBack } from './judge-anew.ts';

/**
 * Lets a verdict count no more, or again: administrators of the repository may. Doing it twice changes nothing.
 * @param wanted.priors the earlier verdicts of the same reviewer as well
 * @throws 403, also for what is no verdict and for a closed pull request, 404, 422, 423
 */
export async function dismissReview(
  context: Context,
  caller: Caller,
  path: ReviewPath,
  wanted: { dismissed: boolean; message: string; priors: boolean },
): Promise<void> {
  const found = await findReview(context, caller, path);
  checkAdmin(found);
  checkNotArchived(found);
  const { state, id } = found.review;
  if (!isVerdict(state))
    throw forbidden("not need to dismiss this review because it's type is not Approve or change request");
  const message = checkText(wanted.message, 'Message');
  await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    if (pull.closed_at !== null) throw forbidden('not need to dismiss this review because this pr is closed');
    const review = await reviews.lockById(tx, pull.id, id);
    if (review === undefined) throw notFound();
    const priors = wanted.priors ? await reviews.listPriors(tx, review) : [];
    const changed = await reviews.setDismissed(tx, [...priors, id], wanted.dismissed);
    if (changed.length === 0) return;
    const changedIds = changed.map((one) => one.id);
    if (!wanted.dismissed) await judgeBroughtBack(tx, pull, changedIds);
    if (wanted.dismissed && changedIds.includes(id)) {
      const entry = { kind: 'dismiss_review', body: message, details: { review_id: id } };
      await comments.add(tx, { issueId: pull.issue_id, posterId: caller.userId, ...entry });
    }
    await issues.touch(tx, pull.issue_id);
  });
}
