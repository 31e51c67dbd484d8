import { setTimeout as sleep } from 'node:timers/promises';
import { loadPushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { baseMoved, headMoved, notFound, notMergeable } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { writeMerge } from '../outside/git/merge.ts';
import { commitObject } from '../outside/git/objects.ts';
import { listChangedPaths } from '../outside/git/reading/changed-paths.ts';
import { branchRef, moveRefs, pullRef, readRefs } from '../outside/git/refs.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { findKept, findProtection, mayMergeInto, type Protection } from '../rules/git/protection.ts';
import { mergeMessage } from '../rules/pulls/merge-message.ts';
import { checkOutlook, checkStyle } from '../rules/pulls/mergeable.ts';
import * as merges from '../store/pulls/merges.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { publicAddress } from '../users/user-json.ts';
import { deleteHeadBranch } from './delete-head-branch.ts';
import { findPull, type VisiblePull } from './find-pull.ts';
import { recordMerge, settleMergeOf } from './settle-merges.ts';
import { branchQueue, followHeads } from './sync-pulls.ts';

/** How the caller wants it merged. */
export interface WantedMerge {
  style: string;
  title: string;
  message: string;
  /** The head the caller has seen; empty for whatever it is. */
  headCommit: string;
  whenChecksSucceed: boolean;
  deleteBranch: boolean;
}

/**
 * Merges a pull request in the bare repository: tree, commit, then the branch by compare-and-swap. What is about to
 * happen is a row before the branch moves, so that a crash leaves nothing half done.
 */
export async function mergePull(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedMerge,
): Promise<void> {
  const found = await findPull(context, caller, path);
  const { repository } = found;
  checkMergeIsPossible(found);
  checkNotArchived(found);
  checkStyle(wanted.style);
  if (wanted.whenChecksSucceed) throw notMergeable('merging when checks succeed is not available');

  await context.queues.inTurn(branchQueue(repository.id), async () => {
    // Things may have changed while we waited: another merge, or one that was interrupted.
    await settleMergeOf(context, found.pull);
    const now = await findPull(context, caller, path);
    checkMergeIsPossible(now);
    const { pull } = now;
    const { protections, pusher } = await loadPushRules(context, now, caller.userId);
    const protection = findProtection(protections, pull.base_branch);
    if (!mayMergeInto(protection, pusher)) throw mayNotMerge();
    if (protection?.options.require_signed_commits)
      throw notMergeable('the protected branch takes signed commits only, and the merge would not be signed');
    await carryOut(context, pull, await prepare(context, caller, pull, wanted, protection));
    // The base may itself be the head of other pull requests.
    await followHeads(context, repository.id, caller.userId, pull.base_branch);
  });
  if (wanted.deleteBranch) await deleteHeadBranch(context, caller.userId, found);
}

const mayNotMerge = () => notMergeable('User not allowed to merge PR');

/** Merge rules 1 and 3, as far as rows decide: merged is 405 even when closed, then closed is 404. */
function checkMergeIsPossible({ pull, ...found }: VisiblePull): void {
  if (pull.merged_at !== null) throw notMergeable('The PR is already merged');
  if (pull.closed_at !== null) throw notFound();
  if (!mayWrite(found, 'code')) throw mayNotMerge();
}

/** Decides, and writes the merge to where nobody sees it yet. */
async function prepare(
  { git, outlooks, clock, links }: Context,
  caller: Caller,
  pull: PullWithIssue,
  wanted: WantedMerge,
  protection: Protection | undefined,
): Promise<Omit<merges.MergeRow, 'started_at'>> {
  const repositoryId = pull.repository_id;
  const refs = [branchRef(pull.base_branch), branchRef(pull.head_branch)];
  const [base, headTip] = await readRefs(git, repositoryId, refs);
  if (base === undefined) throw notFound('the base branch does not exist');
  const head = headTip ?? pull.head_sha;
  const outlook = await outlooks.of(repositoryId, base, head);
  checkOutlook(pull.title, outlook);
  if (wanted.headCommit !== '' && wanted.headCommit !== head) throw headMoved();
  // With a clean outlook there is one.
  const mergeBase = outlook.mergeBase ?? base;
  await checkFiles(git, repositoryId, { from: mergeBase, to: head }, protection);

  const { user } = caller;
  const signature = {
    name: user.full_name || user.login,
    email: publicAddress(user, links),
    at: clock.now(),
  };
  const { title, number, head_branch: headBranch, base_branch: baseBranch } = pull;
  const message = mergeMessage({ ...wanted, pull: { title, number, headBranch, baseBranch } });
  const parents = [base, head];
  const commit = await writeMerge(git, repositoryId, { ours: base, theirs: head }, (tree) =>
    commitObject({ tree, parents, author: signature, committer: signature, message }),
  );
  return {
    pull_id: pull.id,
    merged_by: caller.userId,
    base_branch: baseBranch,
    base_sha: base,
    head_sha: head,
    merge_base: mergeBase,
    commit_sha: commit.id,
  };
}

/** @throws 405 when files change that the protection keeps */
async function checkFiles(
  git: Context['git'],
  repositoryId: number,
  { from, to }: { from: string; to: string },
  protection: Protection | undefined,
): Promise<void> {
  if (!protection?.options.protected_file_patterns.trim()) return;
  const paths = await listChangedPaths(git, repositoryId, from, to);
  if (paths === undefined) throw notMergeable('the base branch is protected and what changes cannot be read');
  const kept = findKept(protection, paths);
  if (kept !== undefined) throw notMergeable(`the base branch is protected from changing file ${kept}`);
}

/** Intent, compare-and-swap, record. */
async function carryOut(
  context: Context,
  pull: PullWithIssue,
  intent: Omit<merges.MergeRow, 'started_at'>,
): Promise<void> {
  const { database, git } = context;
  const repositoryId = pull.repository_id;
  if (!(await merges.begin(database.autocommit(), intent))) throw baseMoved();
  try {
    const base = { ref: branchRef(intent.base_branch), new: intent.commit_sha, old: intent.base_sha };
    // Nearly always there already: pushes move it.
    const head =
      pull.written_sha === intent.head_sha ? [] : [{ ref: pullRef(pull.number), new: intent.head_sha }];
    const moved = await moveRefs(git, repositoryId, [base, ...head]);
    if (moved === 'done') {
      if (await recordMerge(context, pull, intent)) return;
      throw baseMoved();
    }
  } catch (error) {
    // Whether the branch moved before this went wrong, only the repository knows; the record, only the database.
    await settleSoon(context, pull);
    const after = await pulls.findById(database.autocommit(), pull.id);
    if (after === undefined || after.merged_at === null) throw error;
    return;
  }
  await merges.remove(database.autocommit(), pull.id);
  throw baseMoved();
}

/** Settles what just went wrong, with patience for a connection that was lost: else it waits for the next merge or edit. */
async function settleSoon(context: Context, pull: PullWithIssue): Promise<void> {
  for (const patience of [100, 500]) {
    try {
      return await settleMergeOf(context, pull);
    } catch {
      await sleep(patience);
    }
  }
  await settleMergeOf(context, pull);
}
