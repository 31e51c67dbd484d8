import { loadPushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import { locked, moderates } from '../comments/find-comment.ts';
import type { Context } from '../context.ts';
import type { VisiblePull } from '../pulls/find-pull.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import { findProtection, mayApprove } from '../rules/git/protection.ts';

/**
 * Whoever may read a pull request may say what he thinks of it, unless the conversation is locked.
 * @throws 403, 423
 */
export function checkMayReview(found: VisiblePull): void {
  checkNotArchived(found);
  if (found.pull.locked_at !== null && !moderates(found, { is_pull: true })) throw locked();
}

/** Whether somebody's review counts for the protection of the base branch; without one, whether he may write. */
export async function isOfficial(context: Context, caller: Caller, found: VisiblePull): Promise<boolean> {
  const { protections, pusher } = await loadPushRules(context, found, caller.userId);
  return mayApprove(findProtection(protections, found.pull.base_branch), pusher);
}
