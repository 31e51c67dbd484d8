import type { Tx } from '@croft/sql';
import { endUnlessMerger } from '../auto-merge/end-unless-merger.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { branchRef, moveRefs, pullRef, readRefs } from '../outside/git/refs.ts';
import { markStale } from '../reviews/mark-stale.ts';
import { settleEach } from '../settle-each.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as pushes from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { finishStopwatch } from '../tracking/stopwatch.ts';
import { describePush } from './describe-push.ts';
import { branchMove, deciderOf, type Mover, NOBODY } from './mover.ts';
import { bringCommit } from './read-head.ts';

/** Key of the queue in which everything stands that moves branches of a repository by our own hand. */
export const branchQueue = (repositoryId: number) => `branches of ${repositoryId}`;

/**
 * Lets the open pull requests from a repository follow their head branches, which may have moved or gone: its own, and
 * those into other repositories of its network. Not for somebody who has the queue of branches of any.
 * @param branches those that moved, if any; without it all are looked at, which takes long where many are open
 */
export async function syncPulls(
  context: Context,
  repository: { id: number },
  mover = NOBODY,
  branches?: readonly string[],
): Promise<void> {
  if (branches?.length === 0) return;
  const { id } = repository;
  const head: Head = { repositoryId: id, branches };
  const own = await context.queues.inTurn(branchQueue(id), () => followOwn(context, head, mover));
  if ((await followElsewhere(context, head, own.elsewhere, mover)) && own.isWhole) return;
  // All of them are looked at once more.
  await pushes.lookAgain(context.database.autocommit(), id, mover.actorId);
}

/**
 * The same for the pull requests of one branch, for somebody who has the queue of its repository already. Those into other
 * repositories follow soon, for two queues at once could wait for ever; also after a crash. It never fails: the branch has moved
 * whatever happens here, and the reminders stay.
 * @param reminders rows of `pushes` that have it done later, until it is; with none there is nothing to do
 */
export async function followHeads(
  context: Context,
  repositoryId: number,
  mover: Mover,
  branch: string,
  reminders: readonly number[],
): Promise<void> {
  if (reminders.length === 0) return;
  const tx = context.database.autocommit();
  const head: Head = { repositoryId, branches: [branch] };
  const failed = (error: Error) => {
    const fields = { repository: repositoryId, reason: error.message };
    context.log.error(fields, 'pull requests from a branch that moved follow later');
  };
  try {
    const { elsewhere, isWhole } = await followOwn(context, head, mover);
    const following = async () => {
      if ((await followElsewhere(context, head, elsewhere, mover)) && isWhole)
        await pushes.removeAll(tx, reminders);
    };
    if (elsewhere.length === 0) await following();
    else void context.queues.track(following().catch(failed));
  } catch (error) {
    failed(error as Error);
  }
}

/** Where heads are that may have moved: in some branches of a repository, or in any. */
interface Head {
  repositoryId: number;
  branches: readonly string[] | undefined;
}

/** Returns other repositories with pull requests from this one, and whether all followed that are within it. */
async function followOwn(
  context: Context,
  { repositoryId, branches }: Head,
  mover: Mover,
): Promise<{ elsewhere: number[]; isWhole: boolean }> {
  const tx = context.database.autocommit();
  const open = await pulls.listOpenByHead(tx, repositoryId, { headBranches: branches ?? null });
  const own = open.filter((pull) => pull.repository_id === repositoryId);
  const follow: Follow = (pull, tip) => followFound(context, pull, tip, mover);
  const isWhole = await eachAlone(context, repositoryId, own, follow);
  const others = open.filter((pull) => pull.repository_id !== repositoryId);
  return { elsewhere: [...new Set(others.map((pull) => pull.repository_id))], isWhole };
}

/**
 * Lets pull requests into other repositories follow, one repository after the other; false when some did not. Commits are
 * copied outside their queues: that may take long, and the others there are not to wait for a fork.
 */
async function followElsewhere(
  context: Context,
  { repositoryId: headRepositoryId, branches }: Head,
  elsewhere: readonly number[],
  mover: Mover,
): Promise<boolean> {
  const tx = context.database.autocommit();
  let isWhole = true;
  for (const repositoryId of elsewhere) {
    const find = () =>
      pulls.listOpenByHead(tx, headRepositoryId, { headBranches: branches ?? null, repositoryId });
    const brought = new Map<number, string | undefined>();
    /** Of pull requests with the same head into several branches the first brings its commits for all. */
    const copies = new Map<string, Promise<void>>();
    const bring: Follow = async (pull, tip) => {
      // Whose poster lost the code of the head publishes no more of it; with a branch that is gone it is closed all the same.
      if (tip !== undefined && !pull.may_follow) return;
      if (tip !== undefined) {
        const copy = copies.get(tip) ?? bringCommit(context, pull, tip);
        copies.set(tip, copy);
        await copy;
      }
      brought.set(pull.id, tip);
    };
    const follow: Follow = async (pull, tip) => {
      // Where it is elsewhere by now, the push that took it there lets it follow, too.
      if (!brought.has(pull.id) || brought.get(pull.id) !== tip) return;
      // Asked again after the tip was found: who may read it now could read what was there then.
      if (tip === undefined || pull.may_follow) await followFound(context, pull, tip, mover);
    };
    isWhole = (await eachAlone(context, headRepositoryId, await find(), bring)) && isWhole;
    await context.queues.inTurn(branchQueue(repositoryId), async () => {
      isWhole = (await eachAlone(context, headRepositoryId, await find(), follow)) && isWhole;
    });
  }
  return isWhole;
}

type Follow = (pull: pulls.PullOfHead, tip: string | undefined) => Promise<void>;

/** Does something for each of some pull requests with their heads, which are all in one repository. */
async function forEachHead(
  { git }: Context,
  headRepositoryId: number,
  open: readonly pulls.PullOfHead[],
  work: Follow,
): Promise<void> {
  const refs = open.map((pull) => branchRef(pull.head_branch));
  const tips = await readRefs(git, headRepositoryId, refs);
  for (const [index, pull] of open.entries()) await work(pull, tips[index]);
}

/** The same; one for which it cannot be done does not keep the others from it. False when there was one. */
async function eachAlone(
  context: Context,
  headRepositoryId: number,
  open: readonly pulls.PullOfHead[],
  work: Follow,
): Promise<boolean> {
  let isWhole = true;
  await forEachHead(context, headRepositoryId, open, async (pull, tip) => {
    await work(pull, tip).catch((error: Error) => {
      isWhole = false;
      const fields = { repository: pull.repository_id, pull: pull.number, reason: error.message };
      context.log.error(fields, 'a pull request did not follow its head; it is tried again');
    });
  });
  return isWhole;
}

/**
 * The same as `followHead`, for one that was found by its branch.
 * @throws where the branch may be gone for it is getting another name: whoever does that does not stand in this queue
 */
async function followFound(
  context: Context,
  pull: pulls.PullOnBranch,
  tip: string | undefined,
  mover: Mover,
): Promise<void> {
  if (tip === undefined && !(await pulls.keepsHeadBranch(context.database.autocommit(), pull)))
    throw new Error('its head branch is getting another name');
  await followHead(context, pull, tip, mover);
}

/** Lets one pull request follow its head, whose commits are here by now and which is gone where `tip` is undefined. */
export async function followHead(
  context: Context,
  pull: pulls.PullOnBranch,
  tip: string | undefined,
  mover: Mover,
): Promise<void> {
  if (tip === undefined) return await closeForLackOfHead(context, pull, mover.actorId);
  if (tip === pull.head_sha && tip === pull.written_sha) return;
  await moveHead(context, pull, tip, mover);
}

/** Row, ref, row: after a crash in between the row says that the ref is to be written. */
export async function moveHead(
  context: Context,
  pull: pulls.PullOnBranch,
  tip: string,
  mover: Mover,
): Promise<void> {
  const { database } = context;
  const { actorId } = mover;
  const pushed = tip === pull.head_sha ? undefined : await describePush(context, pull, tip);
  const decider = pushed === undefined ? null : await findDecider(context, mover, pull, tip);
  await database.transaction(async (tx) => {
    // The issue first, as everywhere.
    await issues.touch(tx, pull.issue_id);
    await pulls.moveHead(tx, pull.id, tip);
    if (pushed === undefined) return;
    await comments.add(tx, { issueId: pull.issue_id, posterId: actorId, ...pushed });
    await markStale(tx, pull.id, actorId);
    await endUnlessMerger(tx, pull, decider, actorId);
    if (actorId === null) return;
    const head = { before: pull.head_sha, after: tip };
    await announce(tx, { kind: 'issue', action: 'synchronized', head, ...about(pull, actorId) });
  });
  await writeHead(context, pull, tip);
}

/** The same with other pushes of the mover, which are not recorded yet. */
async function findDecider(
  { database }: Context,
  mover: Mover,
  pull: pulls.PullOnBranch,
  tip: string,
): Promise<number | null> {
  const { actorId, moves } = mover;
  const decider = deciderOf(mover, pull, tip);
  if (decider !== null || actorId === null || pull.head_repository_id === null) return decider;
  const rows = await pushes.listOf(database.autocommit(), pull.head_repository_id, actorId);
  const others = rows.flatMap(({ details }) => details.moves.flatMap(branchMove));
  return deciderOf({ actorId, moves: [...moves, ...others] }, pull, tip);
}

/** Lets the ref of a pull request follow its row; false when something is in its way, for the next push or start to try. */
export async function writeHead(
  { database, git }: Context,
  pull: pulls.PullOnBranch,
  tip: string,
): Promise<boolean> {
  const moved = await moveRefs(git, pull.repository_id, [{ ref: pullRef(pull.number), new: tip }]);
  if (moved !== 'done') return false;
  await pulls.markWritten(database.autocommit(), pull.id, tip);
  return true;
}

/** At start: writes the refs of pull requests that a crash kept from being written. */
export async function settlePulls(context: Context): Promise<void> {
  const { database, log } = context;
  await settleEach(log, 'pull request', await pulls.listUnwritten(database.autocommit()), async (pull) => {
    if (!(await writeHead(context, pull, pull.head_sha))) return;
    log.warn(
      { repository: pull.repository_id, pull: pull.number },
      'wrote the ref of a pull request that a crash left behind',
    );
  });
}

/** Closes a pull request whose head branch is gone. */
async function closeForLackOfHead(
  { database }: Context,
  pull: pulls.PullOnBranch,
  actorId: number | null,
): Promise<void> {
  const gone = { kind: 'delete_branch', details: { old_ref: pull.head_branch } };
  await database.transaction((tx) => closeIssueOf(tx, pull, [gone], actorId));
}

/** Closes a pull request that nobody asked to close, with something in its timeline before; one that is closed stays as it is. */
export async function closeIssueOf(
  tx: Tx,
  pull: pulls.PullOnBranch,
  entries: readonly comments.TimelineEntry[],
  actorId: number | null,
): Promise<void> {
  if (!(await issues.close(tx, pull.issue_id))) return;
  await mergeQueue.end(tx, pull.issue_id);
  await repositories.addClosed(tx, pull.repository_id, 'pull', 1);
  const by = { issueId: pull.issue_id, posterId: actorId };
  await comments.addAll(tx, by, [...entries, { kind: 'close' }]);
  if (actorId === null) return;
  await finishStopwatch(tx, pull.issue_id, actorId);
  await announce(tx, { kind: 'issue', action: 'closed', ...about(pull, actorId) });
}

/** Closes the open pull requests into other repositories from one that is about to go. */
export async function closePullsFrom(
  context: Context,
  headRepositoryId: number,
  actorId: number | null,
): Promise<void> {
  const tx = context.database.autocommit();
  const open = await pulls.listOpenByHead(tx, headRepositoryId);
  for (const pull of open.filter((one) => one.repository_id !== headRepositoryId))
    await context.queues.inTurn(branchQueue(pull.repository_id), () =>
      closeForLackOfHead(context, pull, actorId),
    );
}

/** Where something happened to a pull request, and who did it. */
export const about = (pull: pulls.PullOnBranch, actorId: number) => ({
  issueId: pull.issue_id,
  repositoryId: pull.repository_id,
  actorId,
});
