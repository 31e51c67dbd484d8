import type { Tx } from '@croft/sql';
import type { Context } from '../context.ts';
import { announceAll } from '../events/announce.ts';
import { removeLeftovers } from '../outside/git/leftovers.ts';
import {
  branchRef,
  listBranches,
  NO_COMMIT,
  PACKED,
  pointHeadAt,
  readRefIds,
  syncRefs,
} from '../outside/git/refs.ts';
import { removeRepository } from '../outside/git/repository.ts';
import { branchMove, type Mover } from '../pulls/mover.ts';
import { retargetPulls } from '../pulls/retarget-pulls.ts';
import { syncPulls } from '../pulls/sync-pulls.ts';
import { endPublication } from '../releases/end-publication.ts';
import { unpublishReleases } from '../releases/unpublish-releases.ts';
import { chooseDefaultBranch } from '../rules/git/default-branch.ts';
import { branchOf, tagOf } from '../rules/git/push-request.ts';
import { settleEach } from '../settle-each.ts';
import * as contents from '../store/repositories/contents.ts';
import type { PushDetails, PushRow, RefMove } from '../store/repositories/pushes.ts';
import * as pushes from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { removeStaged } from './staged-refs.ts';

/**
 * Announces a push: should we die during it, the next start looks at what it changed. Whoever gets the row calls `recordPush`.
 * @param together writes down in the same transaction what stands or falls with it, and says so in the details
 */
export async function beginPush(
  { database, queues }: Context,
  repositoryId: number,
  actorId: number,
  details: PushDetails,
  together?: (tx: Tx) => Promise<Partial<PushDetails>>,
): Promise<PushRow> {
  const push = { repositoryId, actorId };
  const row = await (together === undefined
    ? pushes.insert(database.autocommit(), { ...push, details })
    : database.transaction(async (tx) => {
        const more = await together(tx);
        return await pushes.insert(tx, { ...push, details: { ...details, ...more } });
      }));
  queues.pushes.begin(row.id);
  return row;
}

/**
 * Takes over into our rows what a push changed. It never fails: the branches have moved whatever happens here, and the
 * row of the push stays for `takeUpPushes` when something goes wrong. Not for somebody who has the queue of branches.
 * @param happened the moves that were done; without it, those that the refs show
 */
export async function recordPush(
  context: Context,
  push: PushRow,
  happened?: readonly RefMove[],
): Promise<void> {
  await record(context, push, happened, false);
}

/** Whether a push was recorded. */
async function record(
  context: Context,
  push: PushRow,
  happened: readonly RefMove[] | undefined,
  mayHaveMore: boolean,
): Promise<boolean> {
  const known = context.queues.pushes;
  let moves = happened;
  try {
    moves ??= await findMoves(context, push);
    await takeOver(context, push, moves, mayHaveMore);
    known.end(push.id);
    return true;
  } catch (error) {
    if (await clearIfRemoved(context, push.repository_id).catch(() => false)) {
      known.end(push.id);
      return true;
    }
    known.leave(push.id, moves);
    const reason = error instanceof Error ? error.stack : String(error);
    context.log.error(
      { repository: push.repository_id, reason },
      'a push was not recorded; it is tried again',
    );
    return false;
  }
}

/**
 * Takes away what git made again of a repository that has been removed, as it makes folders that it misses. As long as the row is
 * there, whoever removes the repository does it.
 * @returns whether it has been removed, or is about to be: then there is nothing to record
 */
async function clearIfRemoved({ database, git }: Context, repositoryId: number): Promise<boolean> {
  const repository = await repositories.findById(database.autocommit(), repositoryId);
  if (repository === undefined) await removeRepository(git, repositoryId);
  return repository?.state !== 'ready';
}

/** Whoever began less than this ago is likely still at it, also where nobody knows of him. */
const LEFT_MS = 5 * 60_000;

/** Records pushes that could not be recorded, and looks again where a pull request did not follow, one after the other. */
export async function takeUpPushes(context: Context, closing: AbortSignal): Promise<void> {
  const { clock, database, log, queues } = context;
  const tx = database.autocommit();
  for (const id of await pushes.listLeft(tx, clock.now(), LEFT_MS)) {
    if (closing.aborted) return;
    const push = queues.pushes.isUnderWay(id) ? undefined : await pushes.takeUp(tx, id);
    if (push === undefined) continue;
    if (await record(context, push, queues.pushes.movesOf(id), true))
      log.warn({ repository: push.repository_id }, 'recorded a push that was left over');
  }
}

/**
 * Lets what names a branch that got another name follow, for whoever moved it and still has the queue of branches: the next one
 * there would find pull requests without a head. It never fails: what did not follow does so with the record.
 * @returns the push as it is to be recorded
 */
export async function followRename(context: Context, push: PushRow): Promise<PushRow> {
  const { renamed, ...details } = push.details;
  if (renamed === undefined) return push;
  try {
    await rename(context, push, renamed);
    return { ...push, details };
  } catch (error) {
    const fields = { repository: push.repository_id, reason: (error as Error).message };
    context.log.error(fields, 'pull requests do not name a renamed branch yet');
    return push;
  }
}

/** At start: looks after pushes that a crash interrupted. */
export async function settlePushes(context: Context): Promise<void> {
  const { database, git, log } = context;
  const list = () => pushes.list(database.autocommit());
  const renames = (await list()).filter(({ details }) => details.renamed !== undefined);
  // Before anybody looks for the head of a pull request under a name that it does not have any more.
  await settleEach(log, 'renaming', renames, async (push) => {
    await removeLeftovers(git, push.repository_id);
    if ((await findMoves(context, push)).length > 0) await followRename(context, push);
  });
  await settleEach(log, 'push', await list(), async (push) => {
    const { repository_id: repository } = push;
    await removeLeftovers(git, repository);
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
  mayHaveMore: boolean,
): Promise<void> {
  const { database } = context;
  const { id, repository_id: repositoryId, actor_id: actorId, details } = push;
  await syncRefs(context.git, repositoryId, [
    ...moves.map(({ ref }) => ref),
    ...(moves.some(({ after }) => after === NO_COMMIT) ? [PACKED] : []),
  ]);
  if (moves.length > 0 && details.renamed !== undefined) await rename(context, push, details.renamed);
  if (moves.length > 0 || mayHaveMore) {
    const mayCount = mayHaveMore || moves.some(changesBranches);
    const moved = mayHaveMore ? undefined : details.moves.flatMap(({ ref }) => branchOf(ref) ?? []);
    const mover = { actorId, moves: moves.flatMap(branchMove) };
    await followBranches(context, repositoryId, mover, { mayCount, moved });
  }
  const deleted = moves.filter(({ after }) => after === NO_COMMIT);
  const branches = deleted.flatMap(({ ref }) => branchOf(ref) ?? []);
  if (branches.length > 0) await retargetPulls(context, repositoryId, branches, actorId);
  const tags = deleted.flatMap(({ ref }) => tagOf(ref) ?? []);
  if (tags.length > 0) await unpublishReleases(context, repositoryId, tags);
  if (details.again !== undefined) return await pushes.removeSeen(database.autocommit(), push);
  const isRecorded = await database.transaction(async (tx) => {
    if (!(await pushes.conclude(tx, id, moves.flatMap(branchMove)))) return false;
    const published = await endPublication(tx, details, moves);
    if (actorId === null) return true;
    const events = [...moves.map((move) => ({ kind: 'ref', ...move }) as const), ...published];
    await announceAll(
      tx,
      events.map((event) => ({ ...event, repositoryId, actorId })),
    );
    return true;
  });
  if (!isRecorded) await clearIfRemoved(context, repositoryId);
  context.queues.bell.ring(repositoryId);
  // Who deleted the tag before it was published found a draft.
  const published = details.publishes === undefined ? [] : moves.flatMap(({ ref }) => tagOf(ref) ?? []);
  if (published.length > 0)
    await unpublishReleases(context, repositoryId, published).catch((error: Error) => {
      const fields = { repository: repositoryId, reason: error.message };
      context.log.error(fields, 'a release may be published whose tag is gone');
    });
}

/** Whether a move adds or takes away a branch. */
const changesBranches = ({ ref, before, after }: RefMove) =>
  ref.startsWith(branchRef('')) && (before === NO_COMMIT) !== (after === NO_COMMIT);

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

/** HEAD first: the rows end it, and nobody would look at HEAD again. */
async function rename(
  { database, git }: Context,
  push: PushRow,
  renamed: { from: string; to: string },
): Promise<void> {
  const { repository_id: repositoryId } = push;
  const repository = await repositories.findById(database.autocommit(), repositoryId);
  if (repository?.default_branch === renamed.from) await pointHeadAt(git, repositoryId, renamed.to);
  await pushes.followRename(database.autocommit(), push, renamed);
}

/**
 * Brings what we know of a repository's branches up to date, as often as one likes.
 * @param moved the branches that may have moved; without it any may
 */
async function followBranches(
  context: Context,
  repositoryId: number,
  mover: Mover,
  { mayCount, moved }: { mayCount: boolean; moved: readonly string[] | undefined },
): Promise<void> {
  const repository = await repositories.findById(context.database.autocommit(), repositoryId);
  if (repository === undefined || repository.state !== 'ready') return;
  const results = await Promise.allSettled([
    noteBranches(context, repository, mayCount),
    syncPulls(context, repository, mover, moved),
  ]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Notes that there was a push, how many branches there are if that may have changed, and the first one in its row. */
async function noteBranches(
  { database, git, queues }: Context,
  repository: repositories.RepositoryRow,
  mayCount: boolean,
): Promise<void> {
  const { id } = repository;
  const tx = database.autocommit();
  if (!mayCount && !repository.empty) return await repositories.updateAfterPush(tx, id);
  // One after the other, so that the last one has seen all moves and two first pushes agree on the default branch.
  await queues.inTurn(`branch count of ${id}`, async () => {
    const [branches, latest = repository] = await Promise.all([
      listBranches(git, id),
      repository.empty ? repositories.findById(tx, id) : undefined,
    ]);
    const first = latest.empty ? chooseDefaultBranch(branches, latest.default_branch) : undefined;
    if (latest.empty && first === undefined) return await contents.setBranches(tx, id, branches.length);
    if (first !== undefined && first !== latest.default_branch) await pointHeadAt(git, id, first);
    await repositories.updateAfterPush(tx, id, { first, count: branches.length });
  });
}
