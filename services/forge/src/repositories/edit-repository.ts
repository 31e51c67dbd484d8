import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { notFound, repositoryArchived, unacceptable } from '../failures.ts';
import { branchRef, NO_COMMIT, pointHeadAt, readRef } from '../outside/git/refs.ts';
import { branchQueue } from '../pulls/sync-pulls.ts';
import { checkRepositoryName } from '../rules/access/name.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { MERGE_STYLES } from '../rules/pulls/merge-style.ts';
import { UPDATE_STYLES } from '../rules/pulls/update-style.ts';
import { checkWebsite } from '../rules/repositories/website.ts';
import * as lostAccess from '../store/people/lost-access.ts';
import * as pushes from '../store/repositories/pushes.ts';
import * as repositories from '../store/repositories/repositories.ts';
import { checkDescription } from './create-repository.ts';
import { checkAdmin, findRepository, findRepositoryById, type VisibleRepository } from './find-repository.ts';

/** What to change of a repository; what is absent or null stays. */
export type RepositoryEdit = Partial<{
  [K in keyof repositories.RepositoryChange]: repositories.RepositoryChange[K] | undefined;
}>;

/**
 * Changes what a repository says of itself and how it is worked with. An archived one is brought back first, or in the
 * same request.
 * @throws 403, 404, 422, and 423 when it is archived and stays so
 */
export async function editRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  edit: RepositoryEdit,
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path);
  checkAdmin(found);
  const { repository } = found;
  if (repository.archived && edit.archived !== false) throw repositoryArchived();
  if (edit.private === true) checkReachesPrivate(caller);
  checkTexts(edit, repository);
  await checkVisibility(context, found, edit);
  if (edit.defaultBranch) await moveDefaultBranch(context, repository.id, edit.defaultBranch, edit);
  else await record(context, repository.id, edit);
  return await findRepositoryById(context, caller, repository.id);
}

async function record({ database }: Context, id: number, edit: RepositoryEdit): Promise<void> {
  try {
    const changed = await database.transaction(async (tx) => {
      const now = await repositories.update(tx, id, edit);
      if (edit.private === true) await lostAccess.forget(tx, { repositoryId: id });
      if (now !== undefined && now.fork_of !== null) await repositories.countForks(tx, now.fork_of);
      return now;
    });
    if (changed === undefined) throw notFound();
  } catch (error) {
    if (isUniqueViolation(error, 'repositories_name_key_key'))
      throw unacceptable(`repo name is already taken [name: ${edit.name}]`);
    throw error;
  }
}

function checkTexts(edit: RepositoryEdit, before: repositories.RepositoryRow): void {
  if (edit.name && edit.name !== before.name) checkRepositoryName(edit.name);
  if (edit.description) checkDescription(edit.description);
  if (edit.website) checkWebsite(edit.website);
  const style = edit.defaultMergeStyle;
  if (style && !(MERGE_STYLES as readonly string[]).includes(style))
    throw unacceptable(`[DefaultMergeStyle]: In(${MERGE_STYLES.join(',')})`);
  const updates = edit.defaultUpdateStyle;
  if (updates && !(UPDATE_STYLES as readonly string[]).includes(updates))
    throw unacceptable(`[DefaultUpdateStyle]: In(${UPDATE_STYLES.join(',')})`);
}

/** What somebody could read in private, he cannot publish by way of his fork. */
async function checkVisibility(
  { database }: Context,
  { repository }: VisibleRepository,
  edit: RepositoryEdit,
): Promise<void> {
  if (edit.private !== false || !repository.private || repository.fork_of === null) return;
  const [parent] = await repositories.listByIds(database.autocommit(), [repository.fork_of], 0);
  if (parent !== undefined && (parent.private || parent.owner.visibility !== 'public'))
    throw unacceptable('the repository is a fork of a private repository and stays private');
}

/**
 * Records an edit of the default branch, and lets HEAD follow: last, as nothing is refused any more then. What a crash
 * leaves in between is set right by the same edit again. In the queue of branches, so that nobody deletes it meanwhile.
 */
async function moveDefaultBranch(
  context: Context,
  id: number,
  branch: string,
  edit: RepositoryEdit,
): Promise<void> {
  const { database, git, queues } = context;
  if (!isBranchName(branch)) throw unacceptable('[DefaultBranch]: GitRefName');
  await queues.inTurn(branchQueue(id), async () => {
    const [before, commit] = await Promise.all([
      repositories.findById(database.autocommit(), id),
      readRef(git, id, branchRef(branch)),
    ]);
    const mayBeUnborn = before === undefined || before.empty || before.default_branch === branch;
    if (commit === undefined && !mayBeUnborn) throw defaultBranchMissing(branch);
    if (mayBeUnborn) await record(context, id, edit);
    else await recordClaimed(context, id, { from: before.default_branch, to: branch }, edit);
    await pointHeadAt(git, id, branch);
  });
}

/**
 * Pushes by git's protocol stand in no queue. So the branch becomes the default one first, and only where no push that is under
 * way deletes it; one that comes later finds it in the row, and is refused. What went before that is gone when it is
 * looked at once more.
 */
async function recordClaimed(
  context: Context,
  id: number,
  { from, to }: { from: string; to: string },
  edit: RepositoryEdit,
): Promise<void> {
  const { database, git } = context;
  const ref = branchRef(to);
  await database.transaction(async (tx) => {
    await repositories.setDefaultBranch(tx, id, from, to);
    if (await pushes.isMoving(tx, id, { ref, after: NO_COMMIT }))
      throw unacceptable(`the branch '${to}' is being deleted`);
  });
  try {
    if ((await readRef(git, id, ref)) === undefined) throw defaultBranchMissing(to);
    await record(context, id, edit);
  } catch (error) {
    await repositories.setDefaultBranch(database.autocommit(), id, to, from);
    throw error;
  }
}

const defaultBranchMissing = (branch: string) => unacceptable(`the branch '${branch}' does not exist`);
