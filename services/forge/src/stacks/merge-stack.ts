import { loadPushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notMergeable, unacceptable } from '../failures.ts';
import { queueOptionsOf } from '../merge-queue/queue-terms.ts';
import { checkMergeIsPossible, checkMerger } from '../pulls/check-merger.ts';
import { landMerges } from '../pulls/land-merges.ts';
import { moveOf } from '../pulls/mover.ts';
import type { MergeWish } from '../pulls/prepare-merge.ts';
import { followHeads } from '../pulls/sync-pulls.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { MergeStyle } from '../rules/pulls/merge-style.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import { named, prepareStack } from './prepare-stack.ts';

/** How a stack is to be merged: the words and the head are those of the uppermost. */
export type StackWish = MergeWish & { headCommit: string; force: boolean };

/**
 * What a stack cannot be: commits by hand are of one pull request, and nobody waits for several at once.
 * @throws 422
 */
export function checkStackWish(style: MergeStyle, whenChecksSucceed: boolean): void {
  if (style === 'manually-merged') throw unacceptable('[MergeStack]: not with manually-merged');
  if (whenChecksSucceed) throw unacceptable('[MergeStack]: not with MergeWhenChecksSucceed');
}

/**
 * Merges pull requests of which each stands on the one before into the branch that the lowest goes to: all of them or none.
 * Each must be fit for that branch, and each gets commits of its own. For somebody who has the queue of branches.
 * @param members at least two, the lowest first
 * @throws 404, 405, 409 as for a single one; the message begins with the number of the one that is in the way
 */
export async function mergeStack(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  members: readonly PullWithIssue[],
  wanted: StackWish,
): Promise<void> {
  const [lowest] = members;
  if (lowest === undefined) return;
  const { id } = found.repository;
  const branch = lowest.base_branch;
  for (const pull of members) await named(pull, async () => checkMergeIsPossible({ ...found, pull }));
  const rules = await loadPushRules(context, found, caller.userId);
  const { protection, mayForce } = await named(lowest, () =>
    checkMerger(context, caller, { ...found, pull: lowest, rules }),
  );
  const by = wanted.force && mayForce ? 'forced' : undefined;
  if (by !== 'forced' && queueOptionsOf(protection) !== undefined)
    throw notMergeable(`#${lowest.number}: ${branch} has a merge queue, which takes them one by one`);
  const stack = { branch, members, protections: rules.protections };
  const landings = await prepareStack(context, caller, found, stack, wanted, { by });
  const reminders = await landMerges(context, landings);
  // Somebody went past the merge queue.
  if (protection?.options.enable_merge_queue) context.queues.bell.ring(id);
  // The branch may itself be the head of other pull requests.
  const mover = { actorId: caller.userId, moves: moveOf(landings.map(({ intent }) => intent)) };
  await followHeads(context, id, mover, branch, reminders);
}
