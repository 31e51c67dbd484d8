import type { Tx } from '@croft/sql';
import { locked, moderates } from '../comments/find-comment.ts';
import { notFound } from '../failures.ts';
import type { VisiblePull } from '../pulls/find-pull.ts';
import * as comments from '../store/issues/comments.ts';
import * as pulls from '../store/pulls/pulls.ts';

/**
 * A pull request as it is now. Its issue is held: who closes it, moves its head or reviews it waits.
 * @throws 403 when it was locked meanwhile, 404 when it is gone
 */
export async function holdPull(tx: Tx, found: VisiblePull): Promise<pulls.PullWithIssue> {
  if ((await comments.holdIssue(tx, found.pull.issue_id)) === undefined) throw notFound();
  const pull = await pulls.findById(tx, found.pull.id);
  if (pull === undefined) throw notFound();
  if (pull.locked_at !== null && !moderates(found, pull)) throw locked();
  return pull;
}
