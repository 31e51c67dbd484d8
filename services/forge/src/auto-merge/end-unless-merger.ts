import type { Tx } from '@croft/sql';
import { findProtection, mayMergeInto } from '../rules/git/protection.ts';
import * as comments from '../store/issues/comments.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';

/**
 * Takes a scheduled merge back once it would be another one than was asked for, with other commits or into another branch,
 * unless who decided that may merge into the base as it is now: else he would merge with the rights of somebody else. And
 * says so in the timeline. One that stays waits for the checks of the new head to begin, where the old one had some. For
 * whoever holds the issue.
 * @param pull as it was
 * @param deciderId who decided it; null when nobody did
 */
export async function endUnlessMerger(
  tx: Tx,
  pull: { id: number; issue_id: number; repository_id: number; head_sha: string },
  deciderId: number | null,
  actorId: number | null,
): Promise<void> {
  const decider = await scheduledMerges.findDecider(tx, pull.id, deciderId);
  if (decider === undefined) return;
  const { base_branch: base, ...pusher } = decider;
  const protections = await branchProtections.list(tx, pull.repository_id);
  if (mayMergeInto(findProtection(protections, base), pusher))
    return await scheduledMerges.awaitChecks(tx, pull.id, pull.head_sha);
  if (!(await scheduledMerges.remove(tx, pull.id))) return;
  const kind = 'pull_cancel_scheduled_merge';
  await comments.add(tx, { kind, issueId: pull.issue_id, posterId: actorId });
}
