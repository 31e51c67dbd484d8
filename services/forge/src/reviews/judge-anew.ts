import type { Tx } from '@croft/sql';
import { approversOf, findProtection } from '../rules/git/protection.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import * as reviewRequests from '../store/reviews/review-requests.ts';
import * as reviews from '../store/reviews/reviews.ts';

/**
 * Decides anew, for the base that a pull request has got, whose objections and which requests are official: they stand for
 * every base, and were judged for another. The caller holds the issue.
 */
export async function judgeAnew(
  tx: Tx,
  { id, repository_id: repositoryId }: { id: number; repository_id: number },
  base: string,
): Promise<void> {
  const approvers = await findApprovers(tx, repositoryId, base);
  await reviews.judgeObjections(tx, id, approvers);
  await reviewRequests.judge(tx, id, approvers);
}

/** The same of objections that were dismissed, which no change of the base judges, and count again. */
export async function judgeBroughtBack(
  tx: Tx,
  pull: { repository_id: number; base_branch: string },
  ids: readonly number[],
): Promise<void> {
  await reviews.judgeBroughtBack(tx, ids, await findApprovers(tx, pull.repository_id, pull.base_branch));
}

const findApprovers = async (tx: Tx, repositoryId: number, base: string) =>
  approversOf(findProtection(await branchProtections.list(tx, repositoryId), base));
