import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, unacceptable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { findPull, type VisiblePull } from '../pulls/find-pull.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { viewerOf } from '../rules/access/permission.ts';
import * as issues from '../store/issues/issues.ts';
import * as reviewRequests from '../store/reviews/review-requests.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { addRequests, tellRequest } from './add-requests.ts';
import { holdPull } from './hold-pull.ts';
import { judgeAnew } from './judge-anew.ts';
import { findNamed, MAX_REQUESTS, type NamedReviewers, resolveReviewers } from './resolve-reviewers.ts';
import { presentReviews } from './review-json.ts';

/**
 * Asks people and teams for a review. Who is asked already is not asked again.
 * @returns the requests that are new, as reviews
 * @throws 403 for others than writers and the poster, 404 for names nobody has, 422 for who cannot be asked, 423
 */
export async function requestReviews(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  named: NamedReviewers,
): ReturnType<typeof presentReviews> {
  const found = await findPull(context, caller, path);
  checkMayAsk(caller, found);
  checkNotArchived(found);
  const { poster_id: posterId, base_branch: baseBranch } = found.pull;
  const wished = await resolveReviewers(context, caller, found, { posterId, baseBranch }, named);
  const ids = await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    const { id: pullId, issue_id: issueId } = pull;
    const made = await addRequests(tx, placeOf(caller, found), wished);
    if (made.length === 0) return [];
    if (pull.base_branch !== baseBranch) await judgeAnew(tx, pull, pull.base_branch);
    if ((await reviewRequests.count(tx, pullId)) > MAX_REQUESTS)
      throw unacceptable(`[Reviewers]: MaxSize(${MAX_REQUESTS})`);
    await issues.touch(tx, issueId);
    return made;
  });
  const tx = context.database.autocommit();
  const made = await reviews.listByIds(tx, found.pull.id, viewerOf(caller), ids);
  return await presentReviews(context, caller, found, made);
}

/**
 * Asks people and teams no more; those who are not asked stay so.
 * @throws 403 for others than writers, the poster and who is asked himself, 404, 423
 */
export async function withdrawRequests(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  named: NamedReviewers,
): Promise<void> {
  const found = await findPull(context, caller, path);
  const isOwn = (login: string) => login.toLowerCase() === caller.user.login_key;
  if (named.teams.length > 0 || named.reviewers.length === 0 || !named.reviewers.every(isOwn))
    checkMayAsk(caller, found);
  checkNotArchived(found);
  const { people, teams } = await findNamed(context, caller, found, named);
  const asked = [
    ...people.map(({ id }) => ({ reviewerId: id, teamId: null })),
    ...teams.map(({ id }) => ({ reviewerId: null, teamId: id })),
  ];
  await context.database.transaction(async (tx) => {
    const pull = await holdPull(tx, found);
    let isChanged = false;
    for (const one of asked) {
      if (!(await reviewRequests.remove(tx, pull.id, one))) continue;
      isChanged = true;
      await tellRequest(tx, placeOf(caller, found), one, 'review_request_removed');
    }
    if (isChanged) await issues.touch(tx, pull.issue_id);
  });
}

function checkMayAsk(caller: Caller, found: VisiblePull): void {
  if (!mayWrite(found, 'pulls') && found.pull.poster_id !== caller.userId)
    throw forbidden("user can't choose reviewers");
}

const placeOf = (caller: Caller, { pull, repository }: VisiblePull) => ({
  pullId: pull.id,
  issueId: pull.issue_id,
  repositoryId: repository.id,
  actorId: caller.userId,
});
