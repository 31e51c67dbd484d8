import { Failure } from '@croft/failure';
import { moveInTurn } from '../branches/move-refs.ts';
import { loadPushRules } from '../branches/push-rules.ts';
import { refuseArrived } from '../branches/refuse-arrived.ts';
import type { Context } from '../context.ts';
import { headMoved } from '../failures.ts';
import { hasCommit } from '../outside/git/merging/merge.ts';
import { isTooMuchToRebase, writeRebase } from '../outside/git/merging/rebase.ts';
import { trySquash } from '../outside/git/merging/squash.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { findActing } from '../repositories/find-acting.ts';
import { mayWrite } from '../repositories/find-repository.ts';
import { branchOf } from '../rules/git/push-request.ts';
import { conflictWords } from '../rules/pulls/mergeable.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import type { RefMove } from '../store/repositories/pushes.ts';
import { signatureOf } from '../users/signature-of.ts';

/**
 * Rebases the head of a pull request that stood on another one and got its base when that was merged in other words, by a
 * squash or a rebase.
 * @param from the base it had
 */
export async function restackHead(
  context: Context,
  pullId: number,
  from: string,
  actorId: number,
): Promise<void> {
  const tx = context.database.autocommit();
  const pull = await pulls.findById(tx, pullId);
  if (pull === undefined) return;
  const [below] = await pulls.listLastMerged(tx, pull.repository_id, [from]);
  if (below?.base_branch !== pull.base_branch) return;
  // It may stand on a head from before one that was rebased or amended.
  const former = await comments.listFormerHeads(tx, below.issue_id, FORMER_HEADS);
  await restack(context, pull, [below.head_sha, ...former], actorId);
}

const FORMER_HEADS = 20;

/**
 * The same for the heads that stand on a branch that was rebased so.
 * @param signal ends it between two of them
 */
export async function restackAbove(
  context: Context,
  repositoryId: number,
  { ref, before }: RefMove,
  actorId: number,
  signal: AbortSignal,
): Promise<void> {
  const branch = branchOf(ref);
  if (branch === undefined) return;
  const above = await pulls.listOpenByBase(context.database.autocommit(), repositoryId, [branch]);
  for (const pull of above) {
    signal.throwIfAborted();
    await restack(context, pull, [before], actorId);
  }
}

/**
 * Rebases the head of a pull request onto its base, which has what it stood on in other words: it then brings only commits of
 * its own. The branch moves as by a push of the actor, where he may; where a commit does not fit, or where its commits one by
 * one do not give what it changes as a whole, it stays and the pull request says so. Doing it again does nothing again.
 * @param upstreams the commits it may have stood on; the first that it has is the one
 */
async function restack(
  context: Context,
  pull: pulls.PullOnBranch,
  upstreams: readonly string[],
  actorId: number,
): Promise<void> {
  const { repository_id: id, base_branch: base } = pull;
  // Only within the repository: nobody who merges here need be allowed to push elsewhere.
  if (pull.closed_at !== null || pull.head_repository_id !== id) return;
  const acting = await findActing(context, actorId, id);
  if (acting === undefined || acting.found.repository.archived || !mayWrite(acting.found, 'code')) return;
  const { found, caller } = acting;
  // Everybody stands on that one.
  if (pull.head_branch === found.repository.default_branch) return;
  const rules = await loadPushRules(context, found, actorId);
  const { git, database } = context;
  const committer = signatureOf(context, caller.user);
  const nothing = { moves: [], result: undefined };
  const prepare = async () => {
    // It may have been merged, closed or given another base while this waited.
    const now = await pulls.findById(database.autocommit(), pull.id);
    if (now === undefined || now.closed_at !== null || now.base_branch !== base) return nothing;
    const ref = branchRef(now.head_branch);
    const [before, onto] = await readRefs(git, id, [ref, branchRef(base)]);
    if (before === undefined || onto === undefined) return nothing;
    const upstream = await findFirst(upstreams, (commit) => hasCommit(git, id, before, commit));
    // Not what this one stands on, or merged as it was.
    if (upstream === undefined || (await hasCommit(git, id, onto, upstream))) return nothing;
    const rebased = await writeRebase(git, id, { onto, head: before, upstream, committer });
    if (rebased.conflict !== undefined) return { moves: [], result: conflictWords(rebased.conflict.files) };
    // Merges are left out, and with them whatever was changed in one: nobody is to lose that by what others merge.
    const whole = await trySquash(git, id, { from: upstream, to: before, onto });
    if (!whole.isClean || whole.tree !== rebased.tree)
      return { moves: [], result: 'its commits one by one do not give all that it changes' };
    const move = { ref, before, after: rebased.tip, restacked: true, authorId: pull.poster_id };
    const refusal = await refuseArrived(context, found.repository, move, rules);
    return { moves: refusal === undefined ? [move] : [], result: undefined };
  };
  const obstacle = await moveInTurn<string | undefined>(context, id, actorId, prepare, headMoved).catch(
    orNothing,
  );
  if (obstacle === undefined) return;
  const body = `Not rebased onto ${base}: ${obstacle}`;
  const comment = { issueId: pull.issue_id, posterId: actorId, body, evenLocked: true };
  await database.transaction(async (tx) => {
    await issues.hold(tx, pull.issue_id);
    if (!(await comments.hasBeenSaid(tx, comment))) await comments.write(tx, comment);
  });
}

async function findFirst<T>(
  items: readonly T[],
  isWanted: (item: T) => Promise<boolean>,
): Promise<T | undefined> {
  for (const item of items) if (await isWanted(item)) return item;
  return undefined;
}

/** Whoever may not, or was overtaken five times, has the head stay where it is; where it is too much that is said. */
function orNothing(error: unknown): string | undefined {
  if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
  return isTooMuchToRebase(error) ? error.message : undefined;
}
