import type { Context } from '../context.ts';
import { announceAll } from '../events/announce.ts';
import { branchRef, listBranches, NO_COMMIT, pointHeadAt, readRefIds } from '../outside/git/refs.ts';
import { removeStaleLocks } from '../outside/git/repository.ts';
import { retargetPulls } from '../pulls/retarget-pulls.ts';
import { syncPulls } from '../pulls/sync-pulls.ts';
import { chooseDefaultBranch } from '../rules/git/default-branch.ts';
import { branchOf } from '../rules/git/push-request.ts';
import { settleEach } from '../settle-each.ts';
import * as contents from '../store/repositories/contents.ts';
import type { PushDetails, PushRow, RefMove } from '../store/repositories/pushes.ts';
import * as pushes from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { removeStaged } from './staged-refs.ts';

/** Announces a push: should we die during it, the next start looks at what it changed. */
export function beginPush(
  { database }: Context,
  repositoryId: number,
  actorId: number,
  details: PushDetails,
): Promise<PushRow> {
  return pushes.insert(database.autocommit(), { repositoryId, actorId, details });
}

/**
 * Takes over into our rows what a push changed. It never fails: the branches have moved whatever happens here, and the
 * row of the push stays for the next start when something goes wrong. Not for somebody who has the queue of branches.
 * @param happened the moves that were done; without it, those that the refs show
 */
export async function recordPush(
  context: Context,
  push: PushRow,
  happened?: readonly RefMove[],
): Promise<void> {
  try {
    await takeOver(context, push, happened ?? (await findMoves(context, push)));
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error);
    context.log.error(
      { repository: push.repository_id, reason },
      'a push was not recorded; the next start will',
    );
  }
}

/** At start: looks after pushes that a crash interrupted. */
export async function settlePushes(context: Context): Promise<void> {
  const { database, git, log } = context;
  const interrupted = await pushes.list(database.autocommit());
  await settleEach(log, 'push', interrupted, async (push) => {
    const { repository_id: repository } = push;
    await removeStaleLocks(git, repository);
    await removeStaged(git, repository);
    await takeOver(context, push, await findMoves(context, push), true);
    log.warn({ repository }, 'recorded a push that a crash interrupted');
  });
}

/** The event is announced in the transaction that ends the intent: once, whatever happens in between. */
async function takeOver(
  context: Context,
  push: PushRow,
  moves: readonly RefMove[],
  mayHaveMore = false,
): Promise<void> {
  const { database } = context;
  const { id, repository_id: repositoryId, actor_id: actorId, details } = push;
  if (moves.length > 0 && details.renamed !== undefined) await rename(context, repositoryId, details.renamed);
  if (moves.length > 0 || mayHaveMore) await followBranches(context, repositoryId, actorId);
  if (mayHaveMore || moves.some(changesBranches)) await countBranches(context, repositoryId);
  const deleted = moves.flatMap(({ ref, after }) => (after === NO_COMMIT ? (branchOf(ref) ?? []) : []));
  if (deleted.length > 0) await retargetPulls(context, repositoryId, deleted, actorId);
  await database.transaction(async (tx) => {
    if (!(await pushes.remove(tx, id)) || actorId === null) return;
    await announceAll(
      tx,
      moves.map((move) => ({ kind: 'ref', ...move, repositoryId, actorId })),
    );
  });
  context.queues.bell.ring(repositoryId);
}

/** Whether a move adds or takes away a branch. */
const changesBranches = ({ ref, before, after }: RefMove) =>
  ref.startsWith(branchRef('')) && (before === NO_COMMIT) !== (after === NO_COMMIT);

/** Counts one after the other, so that the last one has seen all moves. */
async function countBranches({ database, git, queues }: Context, repositoryId: number): Promise<void> {
  await queues.inTurn(`branch count of ${repositoryId}`, async () => {
    const { length } = await listBranches(git, repositoryId);
    await contents.setBranches(database.autocommit(), repositoryId, length);
  });
}

/** The moves whose refs are where they should be. A push that came right after and moved one on hides it. */
async function findMoves({ git }: Context, push: PushRow): Promise<RefMove[]> {
  const { moves } = push.details;
  const ids = await readRefIds(
    git,
    push.repository_id,
    moves.map(({ ref }) => ref),
  );
  return moves.filter(({ ref, before, after }) => after !== before && (ids.get(ref) ?? NO_COMMIT) === after);
}

async function rename(
  { database, git }: Context,
  repositoryId: number,
  renamed: { from: string; to: string },
): Promise<void> {
  await pushes.followRename(database.autocommit(), repositoryId, renamed);
  const repository = await repositories.findById(database.autocommit(), repositoryId);
  if (repository?.default_branch === renamed.to) await pointHeadAt(git, repositoryId, renamed.to);
}

/** Brings what we know of a repository's branches up to date; again when the next push comes, and as often as one likes. */
async function followBranches(context: Context, repositoryId: number, actorId: number | null): Promise<void> {
  const { database, git } = context;
  const repository = await repositories.findById(database.autocommit(), repositoryId);
  if (repository === undefined || repository.state !== 'ready') return;
  if (repository.empty) {
    const defaultBranch = chooseDefaultBranch(
      await listBranches(git, repositoryId),
      repository.default_branch,
    );
    if (defaultBranch === undefined) return;
    if (defaultBranch !== repository.default_branch) await pointHeadAt(git, repositoryId, defaultBranch);
    await repositories.updateAfterPush(database.autocommit(), repositoryId, defaultBranch);
  } else await repositories.updateAfterPush(database.autocommit(), repositoryId);
  await syncPulls(context, repository, actorId);
}
