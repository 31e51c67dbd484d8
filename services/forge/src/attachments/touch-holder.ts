import type { Tx } from '@croft/sql';
import { announce } from '../events/announce.ts';
import { notFound } from '../failures.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import type { Holder } from './find-holder.ts';

/**
 * Holds the issue or comment whose files change, until the transaction ends, and notes that it changed; releases show no such time.
 * @param newFileOf who sent a file, which others are told of as of a change of the text (reference)
 * @throws 404 when it went away meanwhile
 */
export async function touchHolder(tx: Tx, { found, place }: Holder, newFileOf?: number): Promise<void> {
  if ('releaseId' in place) return;
  const { issueId, commentId } = place;
  const issue = await issues.lockById(tx, issueId);
  const comment = commentId === null ? undefined : await comments.lockWritten(tx, commentId);
  if (issue === undefined || (commentId !== null && comment === undefined)) throw notFound();
  await issues.touch(tx, issueId);
  if (comment !== undefined) await comments.touch(tx, comment.id);
  if (newFileOf === undefined) return;
  const about = { action: 'edited', issueId, repositoryId: found.repository.id, actorId: newFileOf } as const;
  await (comment === undefined
    ? announce(tx, { ...about, kind: 'issue', changes: { body: { from: issue.body } } })
    : announce(tx, { ...about, kind: 'comment', commentId: comment.id, from: comment.body }));
}
