import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { listTree } from '../outside/git/reading/trees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { isLicenseFile, licenseOf } from '../rules/files/licenses.ts';

/** Files of the root that are looked at. */
const MAX_ENTRIES = 1_000;
const MAX_FILES = 5;

/** A commit's files never change. */
const known = new LRUCache<string, readonly string[]>({ max: 2_000 });

/** SPDX ids of the licenses whose texts are in the root of the default branch. */
export async function showLicenses(
  context: Context,
  viewer: Caller | undefined,
  path: { owner: string; repo: string },
): Promise<readonly string[]> {
  const { git } = context;
  const { repository } = await findRepository(context, viewer, path, 'code');
  const commit = await readRef(git, repository.id, branchRef(repository.default_branch));
  if (commit === undefined) return [];
  const before = known.get(commit);
  if (before !== undefined) return before;
  const slice = { recursive: false, offset: 0, limit: MAX_ENTRIES };
  const listed = await listTree(git, repository.id, commit, slice);
  const files = (listed?.entries ?? []).filter(
    ({ type, path: name }) => type === 'blob' && isLicenseFile(name),
  );
  const ids = new Set<string>();
  for (const { id } of files.slice(0, MAX_FILES)) {
    const object = await readObject(git, repository.id, id, 'skip');
    const license = object && licenseOf(object.content.toString());
    if (license !== undefined) ids.add(license);
  }
  const licenses = [...ids];
  known.set(commit, licenses);
  return licenses;
}
