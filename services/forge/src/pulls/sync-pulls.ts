import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { branchRef, moveRefs, pullRef, readRefs } from '../outside/git/refs.ts';
import { settleEach } from '../settle-each.ts';
import * as issues from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** Key of the queue in which everything stands that moves branches of a repository by our own hand. */
export const branchQueue = (repositoryId: number) => `branches of ${repositoryId}`;

/**
 * Lets the open pull requests from a repository follow their head branches, which may have moved or gone.
 * @param actorId in whose name; null when that is not known any more
 */
export async function syncPulls(
  context: Context,
  repository: { id: number },
  actorId: number | null = null,
): Promise<void> {
  await context.queues.inTurn(branchQueue(repository.id), () => followHeads(context, repository.id, actorId));
}

/** The same for somebody who has the queue already, optionally for the pull requests of one branch only. */
export async function followHeads(
  context: Context,
  repositoryId: number,
  actorId: number | null,
  branch?: string,
): Promise<void> {
  const { database, git } = context;
  const open = await pulls.listOpenByHead(database.autocommit(), repositoryId, branch);
  const tips = await readRefs(
    git,
    repositoryId,
    open.map((pull) => branchRef(pull.head_branch)),
  );
  for (const [index, pull] of open.entries()) {
    const tip = tips[index];
    if (tip === undefined) await closeForLackOfHead(context, pull, actorId);
    else if (tip !== pull.head_sha || tip !== pull.written_sha) await moveHead(context, pull, tip, actorId);
  }
}

/** Row, ref, row: after a crash in between the row says that the ref is to be written. */
export async function moveHead(
  context: Context,
  pull: pulls.PullWithIssue,
  tip: string,
  actorId: number | null,
): Promise<void> {
  const { database } = context;
  await database.transaction(async (tx) => {
    // The issue first, as everywhere.
    await issues.touch(tx, pull.issue_id);
    await pulls.moveHead(tx, pull.id, tip);
    if (actorId === null || tip === pull.head_sha) return;
    const head = { before: pull.head_sha, after: tip };
    await announce(tx, { kind: 'issue', action: 'synchronized', head, ...about(pull, actorId) });
  });
  await writeHead(context, pull, tip);
}

/** Lets the ref of a pull request follow its row; false when something is in its way, for the next push or start to try. */
export async function writeHead(
  { database, git }: Context,
  pull: pulls.PullWithIssue,
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

async function closeForLackOfHead(
  { database }: Context,
  pull: pulls.PullWithIssue,
  actorId: number | null,
): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await issues.close(tx, pull.issue_id))) return;
    await repositories.addClosed(tx, pull.repository_id, 'pull', 1);
    if (actorId !== null) await announce(tx, { kind: 'issue', action: 'closed', ...about(pull, actorId) });
  });
}

const about = (pull: pulls.PullWithIssue, actorId: number) => ({
  issueId: pull.issue_id,
  repositoryId: pull.repository_id,
  actorId,
});
