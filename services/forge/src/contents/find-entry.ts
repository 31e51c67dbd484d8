import type { Caller } from '../caller/caller.ts';
import { type ResolvedCommit, resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { findEntry, type TreeEntry } from '../outside/git/reading/trees.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { readTreePath } from '../rules/files/tree-path.ts';

/** The path of a file or folder in a repository. */
export interface ContentsPath {
  owner: string;
  repo: string;
  file: string;
}

/** Something in the tree of a commit. */
export interface FoundEntry {
  found: VisibleRepository;
  at: ResolvedCommit;
  /** The commit's whole tree. */
  root: string;
  entry: TreeEntry;
}

/**
 * What a path leads to in the commit that `ref` names, or in the default branch.
 * @throws 404
 */
export async function findContents(
  context: Context,
  viewer: Caller | undefined,
  path: ContentsPath,
  ref: string | undefined,
): Promise<FoundEntry> {
  const found = await findRepository(context, viewer, path, 'code');
  return await findContentsIn(context, found, path.file, ref);
}

/** The same in a repository that was found already. */
export async function findContentsIn(
  context: Context,
  found: VisibleRepository,
  file: string,
  ref: string | undefined,
): Promise<FoundEntry> {
  const { git } = context;
  const { id } = found.repository;
  const at = await resolveCommit(context, found, ref);
  const name = readTreePath(file);
  const tree = await describeObject(git, id, `${at.commit}^{tree}`);
  const entry =
    tree === undefined || name === undefined ? undefined : await findEntry(git, id, tree.id, name);
  if (tree === undefined || entry === undefined) throw notFound(`${file.slice(0, 100)} does not exist`);
  return { found, at, root: tree.id, entry };
}
