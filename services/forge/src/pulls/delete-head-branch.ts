import { swapRefs } from '../branches/move-refs.ts';
import { loadPushRules, refuseMove } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { headKept } from '../failures.ts';
import { recordPush } from '../git-http/record-push.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import { mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import { decideBranchDeletion } from '../rules/pulls/branch-deletion.ts';
import * as comments from '../store/issues/comments.ts';
import * as pulls from '../store/pulls/pulls.ts';
import type { PushRow } from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import type { PullToMerge } from './check-merger.ts';
import { accessToHead } from './find-head.ts';
import { branchQueue } from './sync-pulls.ts';

/**
 * Deletes the head branch of a pull request that was just merged, where the caller may write to its repository: else it
 * stays. The pull request stays merged whatever this ends with.
 * @throws 403 for the default branch and a protected one, 404 when the branch is gone, 409 when it was pushed to since
 */
export async function deleteHeadBranch(context: Context, caller: Caller, found: PullToMerge): Promise<void> {
  const ofHead = await accessToHead(context, caller, found, found.pull);
  if (ofHead === undefined || !mayWrite(ofHead, 'code') || ofHead.repository.archived) return;
  const { database, queues } = context;
  const { id } = ofHead.repository;
  const deletion = await queues.inTurn(branchQueue(id), () => swap(context, caller, found.pull.id, ofHead));
  if (deletion === undefined) return;
  // Should the client be gone: the branch is, too.
  await queues.track(recordPush(context, deletion, deletion.details.moves));
  const details = { old_ref: found.pull.head_branch };
  const entry = { issueId: found.pull.issue_id, kind: 'delete_branch', posterId: caller.userId, details };
  // The branch is gone either way.
  await comments.add(database.autocommit(), entry).catch((error: Error) => {
    context.log.warn({ pull: found.pull.id, reason: error.message }, 'a deletion is not in its timeline');
  });
}

/** Intent and compare-and-swap; undefined when the branch is to stay. */
async function swap(
  context: Context,
  caller: Caller,
  pullId: number,
  ofHead: VisibleRepository,
): Promise<PushRow | undefined> {
  const { database, git } = context;
  const { repository } = ofHead;
  const pull = await pulls.findById(database.autocommit(), pullId);
  if (pull === undefined) return undefined;
  const ref = branchRef(pull.head_branch);
  // Somebody may have made it the default branch while this waited.
  const [now = repository, rules, tip, others] = await Promise.all([
    repositories.findById(database.autocommit(), repository.id),
    loadPushRules(context, ofHead, caller.userId),
    readRef(git, repository.id, ref),
    pulls.countOpenByHead(database.autocommit(), repository.id, pull.head_branch, pull.id),
  ]);
  const decision = decideBranchDeletion({
    isDefault: pull.head_branch === now.default_branch,
    isProtected: refuseMove(rules, pull.head_branch, 'delete') !== undefined,
    exists: tip !== undefined,
    usedByOthers: others > 0,
  });
  // Compare-and-swap against what was merged: commits that were pushed since then are not thrown away.
  if (decision === 'keep') return undefined;
  const moves = [{ ref, before: pull.head_sha, after: NO_COMMIT }];
  const push = await swapRefs(context, repository.id, caller.userId, { moves });
  if (push === undefined) throw headKept();
  return push;
}
