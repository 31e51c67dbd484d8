import { setTimeout as sleep } from 'node:timers/promises';
import { loadPushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { baseMoved, headMoved, notFound, notMergeable, wrongCommit } from '../failures.ts';
import type { NumberedPath } from '../issues/find-issue.ts';
import { loadPeople } from '../issues/load-people.ts';
import { hasCommit } from '../outside/git/merging/merge.ts';
import { listChangedPaths } from '../outside/git/reading/changed-paths.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { branchRef, moveRefs, pullRef, readRef, readRefs } from '../outside/git/refs.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { findKept, findProtection, mayMergeInto, type Protection } from '../rules/git/protection.ts';
import { type MergeStyle, readStyle } from '../rules/pulls/merge-style.ts';
import { checkOutlook } from '../rules/pulls/mergeable.ts';
import * as merges from '../store/pulls/merges.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { deleteHeadBranch } from './delete-head-branch.ts';
import { findPull, type VisiblePull } from './find-pull.ts';
import { messageOf } from './merge-words.ts';
import { recordMerge, settleMergeOf } from './settle-merges.ts';
import { branchQueue, followHeads } from './sync-pulls.ts';
import { writeDecided } from './write-merge.ts';

/** How the caller wants it merged. */
export interface WantedMerge {
  style: string;
  title: string;
  message: string;
  /** The head the caller has seen; empty for whatever it is. */
  headCommit: string;
  /** The commit that merged it, when it was merged by hand. */
  mergeCommit: string;
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
  const style = readStyle(wanted.style, repository);
  if (wanted.whenChecksSucceed) throw notMergeable('merging when checks succeed is not available');

  await context.queues.inTurn(branchQueue(repository.id), async () => {
    // Things may have changed while we waited: another merge, or one that was interrupted.
    await settleMergeOf(context, found.pull);
    const now = await findPull(context, caller, path);
    checkMergeIsPossible(now);
    const { pull } = now;
    if (style === 'manually-merged') return await markMerged(context, caller, pull, wanted.mergeCommit);
    const { protections, pusher } = await loadPushRules(context, now, caller.userId);
    const protection = findProtection(protections, pull.base_branch);
    if (!mayMergeInto(protection, pusher)) throw mayNotMerge();
    if (protection?.options.require_signed_commits)
      throw notMergeable('the protected branch takes signed commits only, and the merge would not be signed');
    await carryOut(context, pull, await prepare(context, caller, now, { ...wanted, style }, protection));
    // The base may itself be the head of other pull requests.
    await followHeads(context, repository.id, caller.userId, pull.base_branch);
  });
  if (wanted.deleteBranch) await deleteHeadBranch(context, caller.userId, found);
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
  const outlook = await context.outlooks.of(repositoryId, base, pull.head_sha);
  const merge = {
    pull_id: pull.id,
    merged_by: caller.userId,
    base_branch: pull.base_branch,
    base_sha: base,
    head_sha: pull.head_sha,
    merge_base: outlook.mergeBase ?? base,
    commit_sha: commit,
  };
  const at = object === undefined ? undefined : parseCommit(object).author.at;
  if (
    !(await recordMerge(context, pull, merge, {
      by: 'hand',
      at,
      headWritten: pull.written_sha === pull.head_sha,
    }))
  )
    throw baseMoved();
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
  context: Context,
  caller: Caller,
  found: VisiblePull,
  wanted: Pick<WantedMerge, 'title' | 'message' | 'headCommit'> & {
    style: Exclude<MergeStyle, 'manually-merged'>;
  },
  protection: Protection | undefined,
): Promise<Omit<merges.MergeRow, 'started_at'>> {
  const { git, outlooks } = context;
  const { pull } = found;
  const { style } = wanted;
  const repositoryId = pull.repository_id;
  const refs = [branchRef(pull.base_branch), branchRef(pull.head_branch)];
  const [base, headTip] = await readRefs(git, repositoryId, refs);
  if (base === undefined) throw notFound('the base branch does not exist');
  const head = headTip ?? pull.head_sha;
  const outlook = await outlooks.of(repositoryId, base, head);
  checkOutlook(pull.title, outlook, style);
  if (wanted.headCommit !== '' && wanted.headCommit !== head) throw headMoved();
  // With a clean outlook there is one.
  const mergeBase = outlook.mergeBase ?? base;
  await checkFiles(git, repositoryId, { from: mergeBase, to: head }, protection);
  const poster = (await loadPeople(context, [pull.poster_id], [caller.user])).byId(pull.poster_id);
  const message = () => messageOf(context, found, pull, poster, style, wanted);
  const decided = { style, base, head, mergeBase, message, poster };
  return {
    pull_id: pull.id,
    merged_by: caller.userId,
    base_branch: pull.base_branch,
    base_sha: base,
    head_sha: head,
    merge_base: mergeBase,
    commit_sha: await writeDecided(context, repositoryId, caller, decided),
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
