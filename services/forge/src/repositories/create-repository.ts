import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { repositoryExists, unacceptable } from '../failures.ts';
import { blobObject, commitObject, treeObject, writeObject } from '../outside/git/objects.ts';
import { branchRef, moveRefs, NO_COMMIT } from '../outside/git/refs.ts';
import { makeRepository, removeRepository } from '../outside/git/repository.ts';
import { isBranchName } from '../rules/branch-name.ts';
import { checkRepositoryName } from '../rules/name.ts';
import * as repositories from '../store/repositories.ts';
import { publicAddress } from '../users/user-json.ts';

const MAX_DESCRIPTION = 2048;

/** What the owner decides about a new repository. */
export interface NewRepository {
  name: string;
  description: string;
  private: boolean;
  defaultBranch: string;
  /** Starts with a commit that holds a README. */
  autoInit: boolean;
}

/** Makes a repository of the caller: the row first, then the folder, then the row says that it is there. */
export async function createRepository(
  context: Context,
  caller: Caller,
  wanted: NewRepository,
): Promise<repositories.RepositoryRow> {
  const { database, git } = context;
  checkRepositoryName(wanted.name);
  if (wanted.description.length > MAX_DESCRIPTION)
    throw unacceptable(`[Description]: MaxSize(${MAX_DESCRIPTION})`);
  if (!isBranchName(wanted.defaultBranch)) throw unacceptable('[DefaultBranch]: GitRefName');
  const intent = await repositories.insert(database.autocommit(), { ...wanted, ownerId: caller.userId });
  if (intent === undefined) throw repositoryExists();
  try {
    await makeRepository(git, intent.id, wanted.defaultBranch);
    if (wanted.autoInit) await commitReadme(context, caller, intent);
    const ready = await repositories.markReady(database.autocommit(), intent.id, !wanted.autoInit);
    if (ready === undefined) throw new Error(`repository ${intent.id} went away while it was made`);
    return ready;
  } catch (error) {
    await abandonRepository(context, intent.id);
    throw error;
  }
}

/** Removes what there is of a repository, folder before row, so that a crash leaves a row that says so. */
export async function abandonRepository({ database, git }: Context, id: number): Promise<void> {
  await removeRepository(git, id);
  await repositories.deleteById(database.autocommit(), id);
}

async function commitReadme(
  context: Context,
  caller: Caller,
  row: repositories.RepositoryRow,
): Promise<void> {
  const { git, clock, links } = context;
  const blob = blobObject(
    [`# ${row.name}`, '', ...(row.description === '' ? [] : [row.description, ''])].join('\n'),
  );
  const tree = treeObject('README.md', blob.id);
  const { user } = caller;
  const signature = {
    name: user.full_name || user.login,
    email: publicAddress(user, links),
    at: clock.now(),
  };
  const commit = commitObject({
    tree: tree.id,
    parents: [],
    author: signature,
    committer: signature,
    message: 'Initial commit',
  });
  for (const object of [blob, tree, commit]) await writeObject(git, row.id, object);
  await moveRefs(git, row.id, [{ ref: branchRef(row.default_branch), new: commit.id, old: NO_COMMIT }]);
}
