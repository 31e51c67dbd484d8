import type { Tx } from '@croft/sql';
import { findProtection } from '../rules/git/protection.ts';
import * as comments from '../store/issues/comments.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import * as reviews from '../store/reviews/reviews.ts';

const WHY = 'New commits pushed, approval review dismissed automatically according to repository settings';

/**
 * Tells the reviews of a pull request that its head moved: in the transaction that moved it, behind the lock of its
 * issue. Approvals that have become stale are dismissed where the protection of the base branch says so. One statement
 * as long as nobody approved.
 * @param actorId who moved it; null when that is not known
 */
export async function markStale(tx: Tx, pullId: number, actorId: number | null = null): Promise<void> {
  const approvals = await reviews.markStale(tx, pullId);
  const [first] = approvals;
  if (first === undefined) return;
  const protections = await branchProtections.list(tx, first.repository_id);
  if (!findProtection(protections, first.base_branch)?.options.dismiss_stale_approvals) return;
  const ids = approvals.map(({ id }) => id);
  await reviews.setDismissed(tx, ids, true);
  const entries = ids.map((id) => ({ kind: 'dismiss_review', body: WHY, details: { review_id: id } }));
  await comments.addAll(tx, { issueId: first.issue_id, posterId: actorId }, entries);
}
