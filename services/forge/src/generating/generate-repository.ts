import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { notFound, unacceptable } from '../failures.ts';
import { checkReadsLabels } from '../labels/find-label-home.ts';
import { packTree } from '../outside/git/copy.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { makeRepository } from '../outside/git/repository.ts';
import { by, checkDescription, makeNew } from '../repositories/create-repository.ts';
import { findNewOwner } from '../repositories/find-new-owner.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { commitTree } from '../repositories/first-commit.ts';
import { checkRepositoryName } from '../rules/access/name.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import * as labels from '../store/issues/labels.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as topics from '../store/repositories/topics.ts';

/** What a repository made of a template is to be. */
export interface GeneratedRepository {
  /** Empty for the caller. */
  owner: string;
  name: string;
  description: string;
  private: boolean;
  /** Empty for the template's. */
  defaultBranch: string;
  /** What it takes over; at least one of them. */
  items: { gitContent: boolean; topics: boolean; labels: boolean };
}

/**
 * Makes a repository of a template: the files of its default branch in a commit without history, topics, labels.
 * @throws 403 where the caller may make none, 404, 409 when the name is taken, 422 when it is no template
 */
export async function generateRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: GeneratedRepository,
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path, 'code');
  const { repository: source } = found;
  const { items } = wanted;
  if (items.labels) checkReadsLabels(found);
  if (!source.template) throw unacceptable('this is not a template repo');
  if (!Object.values(items).includes(true)) throw unacceptable('must select at least one template item');
  const owner = await findNewOwner(context, caller, wanted.owner);
  const defaultBranch = wanted.defaultBranch || source.default_branch;
  checkRepositoryName(wanted.name);
  checkDescription(wanted.description);
  if (!isBranchName(defaultBranch)) throw unacceptable('[DefaultBranch]: GitRefName');
  const { name, description, private: isPrivate } = wanted;
  const about = { name, description, private: isPrivate, defaultBranch, ownerId: owner.id };
  const draft = { ...about, website: '', template: false, forkOf: null };
  return await makeNew(context, caller, draft, {
    fill: (row) => fill(context, caller, row, items.gitContent ? source : undefined),
    also: async (tx, row) => {
      if (items.topics) await topics.replace(tx, row.id, source.topics);
      if (items.labels) await labels.copy(tx, source.id, row.id);
      await announce(tx, { kind: 'repository', action: 'created', ...by(row, caller) });
    },
  });
}

/** Only the files come along: what the template's history holds besides them stays there. */
async function fill(
  context: Context,
  caller: Caller,
  row: repositories.RepositoryRow,
  source: repositories.RepositoryRow | undefined,
): Promise<number> {
  const { git } = context;
  const tree = source && (await readTree(context, source));
  if (source === undefined || tree === undefined) {
    await makeRepository(git, row.id, row.default_branch);
    return 0;
  }
  const pack = (folder: string) => packTree(git, source.id, tree, folder);
  await makeRepository(git, row.id, row.default_branch, pack);
  await commitTree(context, caller, row, tree);
  return 1;
}

/** The tree of the template's default branch; undefined while it has none. */
async function readTree(
  { database, git }: Context,
  { id, default_branch: branch }: repositories.RepositoryRow,
): Promise<string | undefined> {
  const commit = await readRef(git, id, branchRef(branch));
  const object = commit && (await readObject(git, id, commit));
  if (object) return parseCommit(object).tree;
  const isThere = (await repositories.findById(database.autocommit(), id))?.state === 'ready';
  if (!isThere) throw notFound();
  return undefined;
}
