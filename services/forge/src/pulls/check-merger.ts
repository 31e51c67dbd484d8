import { loadPushRules, type PushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { mayNotMerge, notFound, notMergeable } from '../failures.ts';
import { mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import { includes } from '../rules/access/permission.ts';
import { findProtection, mayMergeInto, type Protection } from '../rules/git/protection.ts';
import { mayForceMerge } from '../rules/pulls/requirements.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';

/** A pull request with its repository, as somebody sees them. */
export interface PullToMerge extends VisibleRepository {
  pull: PullWithIssue;
  /** What holds for him in the repository, where that was loaded along with it. */
  rules?: Pick<PushRules, 'protections' | 'pusher'>;
}

/**
 * Merge rules 1 and 3: merged is 405 even when closed, then closed is 404.
 * @throws 404, 405
 */
export function checkOpen(pull: { merged_at: Date | null; closed_at: Date | null }): void {
  if (pull.merged_at !== null) throw notMergeable('The PR is already merged');
  if (pull.closed_at !== null) throw notFound();
}

/**
 * The same and who may write, as far as rows decide that are at hand.
 * @throws 404, 405
 */
export function checkMergeIsPossible({ pull, ...found }: PullToMerge): void {
  checkOpen(pull);
  if (!mayWrite(found, 'code')) throw mayNotMerge();
}

/**
 * What holds for the base branch of a pull request, for somebody who may merge into it.
 * @throws 405
 */
export async function checkMerger(
  context: Context,
  caller: Caller,
  found: PullToMerge,
): Promise<{ protection: Protection | undefined; mayForce: boolean }> {
  const { protections, pusher } = found.rules ?? (await loadPushRules(context, found, caller.userId));
  const protection = findProtection(protections, found.pull.base_branch);
  if (!mayMergeInto(protection, pusher)) throw mayNotMerge();
  const isAdministrator = includes(found.permission.level, 'admin');
  return { protection, mayForce: mayForceMerge(protection, pusher, isAdministrator) };
}
