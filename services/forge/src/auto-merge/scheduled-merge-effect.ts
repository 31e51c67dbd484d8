import { Failure } from '@croft/failure';
import type { Deliver } from '@croft/sql';
import type { Context } from '../context.ts';
import { deleteHeadBranch } from '../pulls/delete-head-branch.ts';
import { mergeInTurn } from '../pulls/merge-pull.ts';
import { settleMergeOf } from '../pulls/settle-merges.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import { findActing } from '../repositories/find-acting.ts';
import { checkNotArchived, mayRead } from '../repositories/find-repository.ts';
import { nameStyle } from '../rules/pulls/merge-style.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as scheduledMerges from '../store/pulls/scheduled-merges.ts';
import { endSchedule } from './cancel-scheduled-merge.ts';

/** Topic of the outbox under which triggers ask for a look at a scheduled merge. */
export const SCHEDULED_MERGE = 'scheduled-merge';

/** And for the deletion of the head branch of one that happened. */
export const MERGED_HEAD = 'merged-head';

/**
 * Merges what is scheduled, if everything is there now. However many triggers ask, at once or again after a crash, it
 * happens once: in the queue of branches, and a pull request that is merged has nothing scheduled.
 */
export function scheduledMergeEffect(context: Context): Deliver {
  return async ({ payload }) => {
    const { pullId } = payload as { pullId: number };
    const pull = await pulls.findById(context.database.autocommit(), pullId);
    if (pull === undefined) return;
    await context.queues.inTurn(branchQueue(pull.repository_id), () => mergeScheduled(context, pull));
  };
}

async function mergeScheduled(context: Context, pull: pulls.PullWithIssue): Promise<void> {
  await settleMergeOf(context, pull);
  const scheduled = await scheduledMerges.find(context.database.autocommit(), pull.id);
  if (scheduled === undefined) return;
  const { scheduled_by: schedulerId, title, message, delete_branch: deleteBranch } = scheduled;
  const acting = await findActing(context, schedulerId, pull.repository_id);
  const now = await pulls.findById(context.database.autocommit(), pull.id);
  if (acting === undefined || now === undefined || !mayRead(acting.found, 'pulls'))
    return void (await endSchedule(context, pull, schedulerId));
  const { caller } = acting;
  const found = { ...acting.found, pull: now };
  const style = nameStyle(scheduled.style);
  // A fork can be ahead of its row. What that brings was not looked at: once the row follows, that asks again or ends this.
  const headCommit = now.head_sha;
  const wanted = { style, title, message, deleteBranch, headCommit, mergeCommit: '', force: false };
  try {
    checkNotArchived(found);
    await mergeInTurn(context, caller, found, wanted, { awaitsChecks: scheduled.awaits_checks });
  } catch (error) {
    if (!(error instanceof Failure) || isForNow(error)) throw error;
    // He lost what it takes. Everything else may still come, and something then asks again.
    if (['may_not_merge', 'already_queued'].includes(error.code))
      await endSchedule(context, pull, schedulerId);
  }
}

/** What another try may mend, without anything happening first that asks for it. */
const isForNow = ({ kind, code }: Failure) => kind === 'unavailable' || code === 'base_moved';

/** Deletes the head branch of a merge that happened by itself; nobody is there to be told of what stands in the way. */
export function mergedHeadEffect(context: Context): Deliver {
  return async ({ payload }) => {
    const { pullId, actorId } = payload as { pullId: number; actorId: number };
    const pull = await pulls.findById(context.database.autocommit(), pullId);
    if (pull === undefined) return;
    const acting = await findActing(context, actorId, pull.repository_id);
    if (acting === undefined) return;
    try {
      await deleteHeadBranch(context, acting.caller, { ...acting.found, pull });
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
      const fields = { repository: pull.repository_id, pull: pull.number, reason: error.message };
      context.log.info(fields, 'the head branch of a scheduled merge was kept');
    }
  };
}
