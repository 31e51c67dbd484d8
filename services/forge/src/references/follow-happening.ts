import type { Context } from '../context.ts';
import type { Happening } from '../events/announce.ts';
import type { EventLoads } from '../events/event-loads.ts';
import type { Place } from '../events/place.ts';
import { restackAbove, restackHead } from '../stacks/restack-head.ts';
import { finishStopwatchOfMerge } from '../tracking/stopwatch.ts';
import { followCommits } from './follow-commits.ts';
import { followMerge } from './follow-merge.ts';
import { followComment, followIssueText, followReview } from './follow-texts.ts';

/**
 * Does what the texts behind something announced bring about: issues they name tell of them, and commits and merges
 * close and open again what they say they do. Behind the announcement and not in the request, whose transaction would have to hold
 * issues of other repositories. Doing it again does nothing again.
 * @param signal ends it between two references
 */
export async function followHappening(
  context: Context,
  loads: EventLoads,
  happening: Happening,
  { found, issue }: Place,
  signal: AbortSignal,
): Promise<void> {
  const { kind, actorId, repositoryId } = happening;
  if (kind === 'ref') {
    if (happening.restacked) await restackAbove(context, repositoryId, happening, actorId, signal);
    if (found === undefined) return;
    const findSource = () => loads.source({ writerId: actorId, repositoryId });
    return await followCommits(context, found.repository, happening, findSource, signal);
  }
  if (issue === undefined) return;
  if (kind === 'comment') {
    const saying = { actorId, issue, isNew: happening.action === 'created' };
    if (happening.action !== 'deleted') await followComment(context, saying, happening.commentId, signal);
  } else if (kind === 'review') {
    await followReview(context, { actorId, issue, isNew: true }, happening.reviewId, signal);
  } else if (kind === 'issue') {
    const { action, changes, formerBase } = happening;
    const isWritten = action === 'opened' || changes?.title !== undefined || changes?.body !== undefined;
    if (issue.pull_id !== null && formerBase !== undefined)
      await restackHead(context, issue.pull_id, formerBase, actorId);
    const saying = { actorId, issue, isNew: action === 'opened' };
    if (isWritten) await followIssueText(context, saying, signal);
    if (action === 'closed' && issue.merged_at !== null) {
      await finishStopwatchOfMerge(context, issue.id, actorId);
      await followMerge(context, issue, signal);
    }
  }
}
