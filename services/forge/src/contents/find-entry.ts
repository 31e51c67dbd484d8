import type { Caller } from '../caller/caller.ts';
import { type ResolvedCommit, resolveCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { findEntry, type TreeEntry } from '../outside/git/reading/trees.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { readTreePath } from '../rules/files/tree-path.ts';

/** Where folders are so large that each takes a process of git, paths that are not found in this time are taken for missing. */
const PATIENCE_MS = 3_000;

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
  const [it] = await findEachIn(context, found, [file], ref);
  if (it === undefined) throw notFound(`${file.slice(0, 100)} does not exist`);
  return it;
}

/** The same of several; undefined stands for what is not there. @throws 404 when the commit is not there */
export async function findEachIn(
  context: Context,
  found: VisibleRepository,
  files: readonly string[],
  ref: string | undefined,
): Promise<(FoundEntry | undefined)[]> {
  const { git } = context;
  const { id } = found.repository;
  const at = await resolveCommit(context, found, ref);
  const tree = await describeObject(git, id, `${at.commit}^{tree}`);
  if (tree === undefined) return files.map(() => undefined);
  const names = files.map(readTreePath);
  const entries = new Map<string, TreeEntry | undefined>();
  const until = performance.now() + PATIENCE_MS;
  for (const name of new Set(names.filter((one) => one !== undefined))) {
    if (entries.size > 0 && performance.now() > until) break;
    entries.set(name, await findEntry(git, id, tree.id, name));
  }
  return names.map((name) => {
    const entry = name === undefined ? undefined : entries.get(name);
    return entry === undefined ? undefined : { found, at, root: tree.id, entry };
  });
}
