import { findWritable } from '../branches/find-writable.ts';
import { moveInTurn } from '../branches/move-refs.ts';
import { checkMove, loadPushRules } from '../branches/push-rules.ts';
import { checkArrived, unreadChanges } from '../branches/refuse-arrived.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { badRequest, baseMoved, forbidden, notFound, tooLarge } from '../failures.ts';
import { copyCommit, measureCommit } from '../outside/git/copy-commits.ts';
import { findMergeBase, tryMerge, writeMerge } from '../outside/git/merging/merge.ts';
import { listMergedPaths } from '../outside/git/merging/merged-paths.ts';
import { commitObject } from '../outside/git/objects.ts';
import { branchRef, readRef, readRefs } from '../outside/git/refs.ts';
import { findRepositoryById, mayRead, type VisibleRepository } from '../repositories/find-repository.ts';
import { roomLeft } from '../repositories/room-left.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { dependsOnFiles, findProtection } from '../rules/git/protection.ts';
import type { PushDetails } from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { signatureOf } from '../users/signature-of.ts';

/** What was done to bring a branch up to the parent's, as the wire spells it. */
export const MERGE_TYPES = ['fast-forward', 'merge', 'up-to-date'] as const;
type MergeType = (typeof MERGE_TYPES)[number];

/**
 * Brings a branch of a fork up to its parent's branch of the same name, or to the parent's default branch where there is none.
 * The branch moves as by a push.
 * @throws 400 for what is no fork, on conflicts and when it cannot only follow as it should, 403, also when protected, 404, also
 *   for a parent whose code the caller may not read, 409 when it kept moving, 413, 423
 */
export async function mergeUpstream(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  { branch, onlyForward }: { branch: string; onlyForward: boolean },
): Promise<MergeType> {
  const { git } = context;
  const found = await findWritable(context, caller, path);
  const { id } = found.repository;
  if (!isBranchName(branch)) throw branchMissing();
  const ref = branchRef(branch);
  const [upstream, there] = await Promise.all([
    findUpstream(context, caller, found, branch),
    readRef(git, id, ref),
  ]);
  if (there === undefined) throw branchMissing();
  const { tip } = upstream;
  const rules = await loadPushRules(context, found, caller.userId);
  // Before our turn: it may take long, and nobody else is to wait for it. What is refused leaves nothing behind.
  if (tip !== there)
    await context.queues.inTurn(`upstream of ${id}`, async () => {
      if ((await planAhead(there)) !== 'up-to-date') await bring(context, upstream, found);
    });
  return await moveInTurn(context, id, caller.userId, prepare, baseMoved);

  async function prepare(): Promise<PushDetails & { result: MergeType }> {
    const before = await readRef(git, id, ref);
    if (before === undefined) throw branchMissing();
    const result = await plan(before);
    if (result === 'up-to-date') return { moves: [], result };
    const after = result === 'fast-forward' ? tip : await merge(before);
    // What the parent has anybody may have written.
    const move = { ref, before, after, authorId: null };
    await checkArrived(context, found.repository, move, rules);
    return { moves: [move], result };
  }

  /** @param beside where the objects are that have not been copied yet */
  async function plan(before: string, beside?: number): Promise<MergeType> {
    const mergeBase = await findMergeBase(git, id, before, tip, beside);
    if (mergeBase === tip) return 'up-to-date';
    if (mergeBase === undefined) throw badRequest('refusing to merge unrelated histories');
    if (mergeBase === before) return 'fast-forward';
    if (onlyForward)
      throw badRequest('the branch has commits that its parent has not, so it cannot just follow');
    return 'merge';
  }

  /** What it would come to, with the objects of both; all that refuses a move is asked here as well. */
  async function planAhead(before: string): Promise<MergeType> {
    const { repositoryId: parentId } = upstream;
    const planned = await readable(context, parentId, async () => {
      const type = await plan(before, parentId);
      const tried = type === 'merge' ? await tryMerge(git, id, before, tip, parentId) : undefined;
      if (tried?.isClean === false) throw conflicting(tried.conflicts);
      return type;
    });
    if (planned === 'up-to-date') return planned;
    const protection = findProtection(rules.protections, branch, rules.work);
    const isByFiles = protection !== undefined && dependsOnFiles(protection);
    const merged = () => listMergedPaths(git, id, before, tip, parentId);
    const paths = isByFiles ? await readable(context, parentId, merged) : [];
    if (paths === undefined) throw forbidden(unreadChanges(branch));
    checkMove(rules, branch, 'fast-forward', paths);
    return planned;
  }

  async function merge(before: string): Promise<string> {
    const committer = signatureOf(context, caller.user);
    // Without the parent's name: who sees the fork need not know of it.
    const message = `Merge upstream branch '${upstream.branch}' into ${branch}`;
    const parents = [before, tip];
    const { made, conflicts } = await writeMerge(git, id, { ours: before, theirs: tip }, (tree) =>
      commitObject({ tree, parents, author: committer, committer, message }),
    );
    if (made === undefined) throw conflicting(conflicts);
    return made.id;
  }
}

interface Upstream {
  repositoryId: number;
  branch: string;
  tip: string;
}

/** @throws 400, 404 */
async function findUpstream(
  context: Context,
  caller: Caller,
  { repository: { fork_of: parentId } }: VisibleRepository,
  branch: string,
): Promise<Upstream> {
  if (parentId === null) throw badRequest('repo is not a fork');
  const parent = await findRepositoryById(context, caller, parentId);
  if (!mayRead(parent, 'code')) throw notFound();
  const names = [branch, parent.repository.default_branch];
  const tips = await readRefs(context.git, parentId, names.map(branchRef));
  const [found] = names.flatMap((name, index) => {
    const tip = tips[index];
    return tip === undefined ? [] : { repositoryId: parentId, branch: name, tip };
  });
  if (found === undefined) throw branchMissing();
  return found;
}

/** @throws 404 when the parent went away while its commits were copied, 413 when there is no room for them */
async function bring(context: Context, upstream: Upstream, fork: VisibleRepository): Promise<void> {
  const { git } = context;
  const sides = { from: upstream.repositoryId, to: fork.repository.id };
  await readable(context, sides.from, async () => {
    const room = await roomLeft(context, fork.repository);
    if (room !== undefined && (await measureCommit(git, sides, upstream.tip)) > room)
      throw tooLarge('the repository has reached its size limit');
    await copyCommit(git, sides, upstream.tip);
  });
}

/** Does what reads the objects of a parent. @throws 404 when it fails as the parent is gone */
async function readable<T>({ database }: Context, parentId: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const parent = await repositories.findById(database.autocommit(), parentId);
    throw parent?.state === 'ready' ? error : notFound();
  }
}

const conflicting = (files: readonly string[]) =>
  badRequest('merge failed because of conflict', { conflicted_files: files });
const branchMissing = () => notFound('the branch does not exist');
