import type { Tx } from '@croft/sql';
import { announce } from '../events/announce.ts';
import * as comments from '../store/issues/comments.ts';
import * as dependencies from '../store/issues/dependencies.ts';
import * as issues from '../store/issues/issues.ts';
import * as repositories from '../store/repositories/repositories.ts';

/**
 * Closes an issue because of a commit. One that waits for others stays open, and one that is closed already as it is.
 * Only issues: whether a pull request can be closed is decided between merges.
 */
export async function closeByCommit(
  tx: Tx,
  issueId: number,
  by: { actorId: number; commitSha: string },
): Promise<void> {
  const issue = await issues.lockById(tx, issueId);
  if (issue === undefined || issue.is_pull || issue.closed_at !== null) return;
  if (await dependencies.hasOpen(tx, issueId)) return;
  await issues.close(tx, issueId);
  await repositories.addClosed(tx, issue.repository_id, 'issue', 1);
  const details = { commit_id: by.commitSha };
  await comments.add(tx, { issueId, kind: 'close', posterId: by.actorId, details });
  await announce(tx, {
    kind: 'issue',
    action: 'closed',
    issueId,
    repositoryId: issue.repository_id,
    actorId: by.actorId,
    commitId: by.commitSha,
  });
}
