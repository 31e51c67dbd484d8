import type { Context } from '../context.ts';
import { fingerprintRefs, listBranches, pointHeadAt } from '../outside/git/refs.ts';
import { removeStaleLocks } from '../outside/git/repository.ts';
import { syncPulls } from '../pulls/sync-pulls.ts';
import { chooseDefaultBranch } from '../rules/default-branch.ts';
import { settleEach } from '../settle-each.ts';
import * as pushes from '../store/pushes.ts';
import * as repositories from '../store/repositories.ts';

/** A push that is under way. */
export interface Push {
  id: number;
  /** The refs as they were before it. */
  refs: string;
}

/** Announces a push: should we die during it, the next start looks at what it changed. */
export async function beginPush(context: Context, repositoryId: number): Promise<Push> {
  const refs = await fingerprintRefs(context.git, repositoryId);
  return { id: await pushes.insert(context.database.autocommit(), repositoryId), refs };
}

/**
 * Takes over into our rows what a push changed, which is nothing when git refused it. It never fails: the branches
 * have moved whatever happens here, and the row of the push stays for the next start when something goes wrong.
 */
export async function recordPush(context: Context, repositoryId: number, push: Push): Promise<void> {
  try {
    const refs = await fingerprintRefs(context.git, repositoryId);
    if (refs !== push.refs) await followBranches(context, repositoryId);
    await pushes.deleteById(context.database.autocommit(), push.id);
  } catch (error) {
    const reason = error instanceof Error ? error.stack : String(error);
    context.log.error({ repository: repositoryId, reason }, 'a push was not recorded; the next start will');
  }
}

/** At start: looks after pushes that a crash interrupted. */
export async function settlePushes(context: Context): Promise<void> {
  const { database, git, log } = context;
  const before = database.autocommit().now;
  const interrupted = await pushes.listRepositories(database.autocommit());
  await settleEach(log, 'push', interrupted, async ({ repository_id: id }) => {
    await removeStaleLocks(git, id);
    await followBranches(context, id);
    await pushes.deleteBefore(database.autocommit(), id, before);
    log.warn({ repository: id }, 'recorded a push that a crash interrupted');
  });
}

/** Brings what we know of a repository's branches up to date; again when the next push comes, and as often as one likes. */
async function followBranches(context: Context, repositoryId: number): Promise<void> {
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
    await repositories.updateAfterPush(database.autocommit(), repositoryId, { empty: false, defaultBranch });
  } else {
    const { default_branch: defaultBranch } = repository;
    await repositories.updateAfterPush(database.autocommit(), repositoryId, { empty: false, defaultBranch });
  }
  await syncPulls(context, repository);
}
