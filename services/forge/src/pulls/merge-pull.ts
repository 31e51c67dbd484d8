import { Failure } from '@croft/failure';
import { scheduleMerge } from '../auto-merge/schedule-merge.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { baseMoved, notFound, wrongCommit } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { joinQueue } from '../merge-queue/join-queue.ts';
import { queueOptionsOf } from '../merge-queue/queue-terms.ts';
import { hasCommit } from '../outside/git/merging/merge.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { checkNotArchived } from '../repositories/find-repository.ts';
import { checkStyle, type MergeStyle, nameStyle } from '../rules/pulls/merge-style.ts';
import { deleteHeads } from '../stacks/delete-heads.ts';
import { findBelow, listBelow } from '../stacks/find-stack.ts';
import { checkStackWish, mergeStack } from '../stacks/merge-stack.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import { checkMergeIsPossible, checkMerger, type PullToMerge } from './check-merger.ts';
import { deleteHeadBranch } from './delete-head-branch.ts';
import { findOriginalBase } from './find-original-base.ts';
import { findPull, findToMerge } from './find-pull.ts';
import { landMerges } from './land-merges.ts';
import { moveOf } from './mover.ts';
import { checkSides, prepareMerge } from './prepare-merge.ts';
import { recordMerge, settleMergeOf } from './settle-merges.ts';
import { branchQueue, followHeads } from './sync-pulls.ts';

/** How the caller wants it merged. */
export interface WantedMerge {
  style: string;
  title: string;
  message: string;
  /** The head the caller has seen; empty for whatever it is. */
  headCommit: string;
  /** The commit that merged it, when it was merged by hand. */
  mergeCommit: string;
  /** Past what the protection requires, as far as the caller may. */
  force: boolean;
  whenChecksSucceed: boolean;
  /** Undefined for what the repository does by itself. */
  deleteBranch: boolean | undefined;
  /** Along with the pull requests it stands on, all or none. */
  stack: boolean;
}

/**
 * Merges a pull request in the bare repository: tree, commit, then the branch by compare-and-swap. What is about to
 * happen is a row before the branch moves, so that a crash leaves nothing half done. Or lets it happen by itself later.
 */
export async function mergePull(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedMerge,
): Promise<'merged' | 'scheduled'> {
  const found = await findToMerge(context, caller, path);
  checkMergeIsPossible(found);
  checkNotArchived(found);
  const deleteBranch = wanted.deleteBranch ?? found.repository.delete_branch_after_merge;
  const wish = { ...wanted, style: nameStyle(wanted.style), deleteBranch };
  if (wanted.stack) checkStackWish(wish.style, wanted.whenChecksSucceed);
  if (wanted.whenChecksSucceed && wish.style !== 'manually-merged') {
    await scheduleMerge(context, caller, found, { ...wish, style: wish.style });
    return 'scheduled';
  }
  const expected = wanted.stack ? await listBelow(context, found.pull) : undefined;
  let below: PullWithIssue[] = [];
  const outcome = await context.queues.inTurn(branchQueue(found.repository.id), async (waited) => {
    // Things may have changed while we waited: another merge, or one that was interrupted. What changes without waiting
    // either, the intent finds out; protections excepted, which are those of the moment the request came.
    const isLate = waited || found.interrupted;
    if (isLate) await settleMergeOf(context, found.pull);
    const now: PullToMerge = isLate ? await findPull(context, caller, path) : found;
    checkMergeIsPossible(now);
    checkNotArchived(now);
    // Whoever wanted it in one branch did not mean another.
    if (now.pull.base_branch !== found.pull.base_branch) throw baseMoved();
    if (expected !== undefined) below = await findBelow(context, now.pull, expected);
    const { style } = wish;
    if (below.length === 0 || style === 'manually-merged')
      return await mergeInTurn(context, caller, now, wish);
    await mergeStack(context, caller, now, [...below, now.pull], { ...wish, style });
    return 'merged';
  });
  if (outcome === 'queued') return 'scheduled';
  if (!deleteBranch) return 'merged';
  const members = [...below, found.pull];
  const deletion =
    below.length > 0
      ? deleteHeads(context, caller, found, members)
      : deleteHeadBranch(context, caller, found);
  await deletion.catch((error: unknown) => {
    // Who did not ask for it is not told of what stands in the way.
    if (wanted.deleteBranch || !(error instanceof Failure)) throw error;
  });
  return 'merged';
}

/** How somebody who has the queue of branches wants it merged. */
export type MergeInTurn = Omit<WantedMerge, 'style' | 'deleteBranch' | 'whenChecksSucceed' | 'stack'> & {
  style: MergeStyle;
  deleteBranch: boolean;
};

/**
 * Merges a pull request for somebody who has the queue of branches, when everything is there, or lets it wait in the merge
 * queue of its base.
 * @param byItself nobody waits for an answer: it was scheduled, and perhaps waits for checks that are to come
 */
export async function mergeInTurn(
  context: Context,
  caller: Caller,
  found: PullToMerge,
  wanted: MergeInTurn,
  byItself?: { awaitsChecks: boolean },
): Promise<'merged' | 'queued'> {
  const { pull, repository } = found;
  checkMergeIsPossible(found);
  const { protection, mayForce } = await checkMerger(context, caller, found);
  const { style } = wanted;
  if (style === 'manually-merged') {
    checkStyle(style, repository);
    await markMerged(context, caller, pull, wanted.mergeCommit);
    return 'merged';
  }
  const by = byItself !== undefined ? 'itself' : wanted.force && mayForce ? 'forced' : undefined;
  const past = { by, awaitsChecks: byItself?.awaitsChecks } as const;
  const queue = by === 'forced' ? undefined : queueOptionsOf(protection);
  if (queue !== undefined) {
    // Required checks look at the merges ahead of the branch, and perhaps at nothing else: those of the head count where there are any.
    const counted = queue.required.length > 0 ? queue.required : undefined;
    const toEnter = { ...past, counted };
    const { head } = await checkSides(context, found, { ...wanted, style }, queue.protection, toEnter);
    await joinQueue(context, caller, found, { ...wanted, style, head });
    return 'queued';
  }
  const merge = await prepareMerge(context, caller, found, { ...wanted, style }, protection, past);
  const intent = byItself === undefined ? merge.intent : { ...merge.intent, made_by: 'schedule' };
  const reminders = await landMerges(context, [{ pull, intent }], merge.written);
  // Somebody went past the merge queue.
  if (protection?.options.enable_merge_queue) context.queues.bell.ring(repository.id);
  // The base may itself be the head of other pull requests.
  const mover = { actorId: caller.userId, moves: moveOf([intent]) };
  await followHeads(context, repository.id, mover, pull.base_branch, reminders);
  return 'merged';
}

/**
 * Merge rule 4: somebody merged it by hand, and names the commit.
 * @throws 409 when that is no full id, or not on the base branch
 */
async function markMerged(
  context: Context,
  caller: Caller,
  pull: PullWithIssue,
  commit: string,
): Promise<void> {
  const repositoryId = pull.repository_id;
  const base = await readRef(context.git, repositoryId, branchRef(pull.base_branch));
  if (base === undefined) throw notFound('the base branch does not exist');
  if (!/^[0-9a-f]{40}$/.test(commit) || !(await hasCommit(context.git, repositoryId, base, commit)))
    throw wrongCommit();
  const object = await readObject(context.git, repositoryId, commit);
  // The id of a tag leads to the base, too.
  if (object?.type !== 'commit') throw wrongCommit();
  const { parents, author } = parseCommit(object);
  const merge = {
    pull_id: pull.id,
    merged_by: caller.userId,
    base_branch: pull.base_branch,
    base_sha: base,
    head_sha: pull.head_sha,
    merge_base: (await findOriginalBase(context, pull, { base, commit, parents })) ?? base,
    commit_sha: commit,
  };
  const headWritten = pull.written_sha === pull.head_sha;
  const details = { by: 'hand', at: author.at, headWritten } as const;
  if (!(await recordMerge(context, pull, merge, details))) throw baseMoved();
}
