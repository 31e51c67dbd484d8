import type { Failure } from '@croft/failure';
import type { Tx } from '@croft/sql';
import { removeFiles } from '../attachments/remove-files.ts';
import type { Caller } from '../caller/caller.ts';
import { checkReachesPrivate } from '../caller/check-reaches-private.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { folderTaken, notFound, repositoryExists, unacceptable } from '../failures.ts';
import { FolderTaken, makeRepository, removeRepository } from '../outside/git/repository.ts';
import { closePullsFrom } from '../pulls/sync-pulls.ts';
import { checkRepositoryName } from '../rules/access/name.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { findLabelSet } from '../starters/label-sets.ts';
import { starterFiles } from '../starters/starter-files.ts';
import * as labels from '../store/issues/labels.ts';
import * as collaborators from '../store/people/collaborators.ts';
import * as users from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as attachments from '../store/tracking/attachments.ts';
import { keepAsCause } from './explain-removed.ts';
import { findRepositoryById, type VisibleRepository } from './find-repository.ts';
import { commitFiles } from './first-commit.ts';

const MAX_DESCRIPTION = 2048;
const ADMIN_LEVEL = 3;

/** What is decided about a new repository. */
export interface NewRepository {
  name: string;
  description: string;
  private: boolean;
  template: boolean;
  /** Empty for the server's default. */
  defaultBranch: string;
  /** Starts with a commit: a README, and what else is wished for. */
  autoInit: boolean;
  licence: string;
  gitignores: string;
  /** Name of the template of the README; empty for the one there is. */
  readme: string;
  /** Name of the label set it starts with, or nothing. */
  labelSet: string;
}

/**
 * Makes a repository for an owner for whom the caller may: the row first, then the folder, then the row says that it
 * is there. Whoever makes one in an organization administrates it.
 */
export async function createRepository(
  context: Context,
  caller: Caller,
  owner: users.UserRow,
  wanted: NewRepository,
): Promise<VisibleRepository> {
  const defaultBranch = wanted.defaultBranch || context.settings.DEFAULT_BRANCH;
  checkRepositoryName(wanted.name);
  checkDescription(wanted.description);
  if (!isBranchName(defaultBranch)) throw unacceptable('[DefaultBranch]: GitRefName');
  const files = starterFiles({
    ...wanted,
    owner: owner.full_name || owner.login,
    year: context.clock.now().getUTCFullYear(),
  });
  const labelSet = wanted.labelSet === '' ? [] : findLabelSet(wanted.labelSet);
  if (labelSet === undefined) throw unacceptable(`label template does not exist [name: ${wanted.labelSet}]`);
  const draft = { ...wanted, ownerId: owner.id, website: '', defaultBranch, forkOf: null };
  return await makeNew(context, caller, draft, {
    fill: async (row) => {
      await makeRepository(context.git, row.id, defaultBranch);
      if (!wanted.autoInit) return 0;
      await commitFiles(context, caller, row, files);
      return 1;
    },
    also: async (tx, row) => {
      const home = { repositoryId: row.id, organizationId: null };
      for (const label of labelSet) await labels.insert(tx, home, { ...label, archivedAt: null });
      await announce(tx, { kind: 'repository', action: 'created', ...by(row, caller) });
    },
  });
}

/** How a new repository gets what is in it. */
export interface Making {
  /** Makes the folder; returns how many branches it has. */
  fill(row: repositories.RepositoryRow): Promise<number>;
  /** What else belongs to the moment in which it is there. */
  also(tx: Tx, row: repositories.RepositoryRow): Promise<void>;
}

/**
 * Row, folder, row; when anything in between fails, neither is left. Whoever makes it watches it, so that somebody hears
 * of what strangers say there.
 * @throws 403 for a private one with credentials for public things, 409 when the owner has one of this name
 */
export async function makeNew(
  context: Context,
  caller: Caller,
  draft: repositories.RepositoryDraft,
  making: Making,
): Promise<VisibleRepository> {
  if (draft.private) checkReachesPrivate(caller);
  const { database, settings } = context;
  const watcherId = settings.AUTO_WATCH_NEW_REPOS ? caller.userId : null;
  const intent = await repositories.insert(database.autocommit(), draft);
  if (intent === undefined) throw await explainRefusal(context, draft);
  try {
    const branches = await making.fill(intent);
    await database.transaction(async (tx) => {
      const ready = await repositories.markReady(tx, intent.id, { branches, watcherId });
      if (ready === undefined) throw new Error(`repository ${intent.id} went away while it was made`);
      if (!(await repositories.mayAdministrate(tx, intent.id, caller.userId)) && !caller.isAdmin)
        await collaborators.put(tx, intent.id, caller.userId, ADMIN_LEVEL);
      await making.also(tx, ready);
    });
  } catch (error) {
    if (error instanceof FolderTaken) throw await leaveFolder(context, intent.id, error);
    keepAsCause(error);
    await abandonRepository(context, intent.id);
    throw error;
  }
  return await findRepositoryById(context, caller, intent.id);
}

/** The folder is somebody's: only the row goes. The next one has another number. */
async function leaveFolder(context: Context, id: number, { folder }: FolderTaken): Promise<Failure> {
  context.log.error(
    { repository: id, folder },
    'a new repository was given up: there is a folder of its number, so the database is older than the data folder. Run croft forge doctor',
  );
  await forgetRepository(context, id);
  return folderTaken();
}

/** What is forked, or the owner, may have gone in the meantime. */
async function explainRefusal(
  { database }: Context,
  { ownerId, forkOf }: repositories.RepositoryDraft,
): Promise<Failure> {
  const tx = database.autocommit();
  const source = forkOf === null ? undefined : await repositories.findById(tx, forkOf);
  if (forkOf !== null && source?.state !== 'ready') return notFound();
  return (await users.mapByIds(tx, [ownerId])).has(ownerId) ? repositoryExists() : notFound();
}

/**
 * Removes what there is of a repository, folder before row, so that a crash leaves a row that says so. Pull requests from it
 * into others are closed.
 * @param actorId in whose name; null when that is not known any more
 */
export async function abandonRepository(
  context: Context,
  id: number,
  actorId: number | null = null,
): Promise<void> {
  await closePullsFrom(context, id, actorId);
  await removeRepository(context.git, id);
  await forgetRepository(context, id);
  // What a push that ended meanwhile made again. One that ends from now on finds no row, and does this itself.
  await removeRepository(context.git, id);
}

async function forgetRepository(context: Context, id: number): Promise<void> {
  const forget = async (tx: Tx): Promise<{ id: number }[]> => {
    // From here on nobody attaches anything.
    await repositories.lock(tx, id);
    const gone = await attachments.deleteAllOf(tx, { repositoryId: id });
    const parentId = await repositories.deleteById(tx, id);
    if (parentId !== undefined) await repositories.countForks(tx, parentId);
    return gone;
  };
  // With everything in it, which may be a lot.
  await removeFiles(context, await context.database.transaction(forget, { unlimited: true }));
}

/** @throws 422 */
export function checkDescription(description: string): void {
  if (description.length > MAX_DESCRIPTION) throw unacceptable(`[Description]: MaxSize(${MAX_DESCRIPTION})`);
}

/** Where something happened to a repository, and who did it. */
export const by = (row: { id: number }, caller: Caller) => ({
  repositoryId: row.id,
  actorId: caller.userId,
});
