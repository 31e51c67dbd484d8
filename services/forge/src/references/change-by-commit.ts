import type { Tx } from '@croft/sql';
import { announce } from '../events/announce.ts';
import * as comments from '../store/issues/comments.ts';
import * as dependencies from '../store/issues/dependencies.ts';
import * as issues from '../store/issues/issues.ts';
import * as references from '../store/issues/references.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { finishStopwatch } from '../tracking/stopwatch.ts';

/**
 * Closes an issue or opens it again because of a commit. One that waits for others stays open, and one that is what it is to
 * be as it is. Only issues: whether a pull request can be closed is decided between merges. Which commit it was is told in its own
 * repository only: not everybody who reads the issue may read another.
 * @param by with the pull request whose text wants it, if one does: what that did once is not done again
 */
export async function changeByCommit(
  tx: Tx,
  issueId: number,
  action: 'closes' | 'reopens',
  by: { actorId: number; commitSha: string; repositoryId: number; mergedIssueId?: number },
): Promise<void> {
  const issue = await issues.lockById(tx, issueId);
  const closes = action === 'closes';
  if (issue === undefined || issue.is_pull || (issue.closed_at !== null) === closes) return;
  if (closes && (await dependencies.hasOpen(tx, issueId))) return;
  const { mergedIssueId } = by;
  if (mergedIssueId !== undefined && (await references.isMergeFollowed(tx, issueId, mergedIssueId))) return;
  await (closes ? issues.close(tx, issueId) : issues.reopen(tx, issueId));
  await repositories.addClosed(tx, issue.repository_id, 'issue', closes ? 1 : -1);
  const isOfHere = by.repositoryId === issue.repository_id;
  const details = {
    ...(isOfHere ? { commit_id: by.commitSha } : {}),
    ...(mergedIssueId === undefined ? {} : references.mergeMark(mergedIssueId)),
  };
  const kind = closes ? 'close' : 'reopen';
  await comments.add(tx, { issueId, kind, posterId: by.actorId, details });
  if (closes) await finishStopwatch(tx, issueId, by.actorId);
  await announce(tx, {
    kind: 'issue',
    action: closes ? 'closed' : 'reopened',
    issueId,
    repositoryId: issue.repository_id,
    actorId: by.actorId,
    ...(isOfHere ? { commitId: by.commitSha } : {}),
  });
}
