import type { Tx } from '@croft/sql';
import * as comments from '../store/issues/comments.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';

/**
 * Takes a scheduled merge back once it would be another one than was asked for, with other commits or into another branch,
 * unless who decided that may write to the base; and says so in the timeline. For whoever holds the issue.
 * @param deciderId who decided it; null when nobody did
 */
export async function endUnlessWriter(
  tx: Tx,
  pull: { id: number; issue_id: number },
  deciderId: number | null,
  actorId: number | null,
): Promise<void> {
  if (!(await scheduledMerges.removeUnlessWriter(tx, pull.id, deciderId))) return;
  const kind = 'pull_cancel_scheduled_merge';
  await comments.add(tx, { kind, issueId: pull.issue_id, posterId: actorId });
}
