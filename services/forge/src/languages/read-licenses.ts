import { LRUCache } from 'lru-cache';
import type { Git } from '../outside/git/git.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { listTree } from '../outside/git/reading/trees.ts';
import { isLicenseFile, licenseOf } from '../rules/files/licenses.ts';

/** Files of the root that are looked at. */
const MAX_ENTRIES = 1_000;
const MAX_FILES = 5;

/** A commit's files never change. */
const known = new LRUCache<string, string[]>({ max: 2_000 });

/** SPDX ids of the licenses whose texts are in the root of a commit. */
export async function readLicenses(git: Git, repositoryId: number, commit: string): Promise<string[]> {
  const before = known.get(commit);
  if (before !== undefined) return before;
  const slice = { recursive: false, offset: 0, limit: MAX_ENTRIES };
  const listed = await listTree(git, repositoryId, commit, slice);
  const files = (listed?.entries ?? []).filter(
    ({ type, path: name }) => type === 'blob' && isLicenseFile(name),
  );
  const ids = new Set<string>();
  for (const { id } of files.slice(0, MAX_FILES)) {
    const object = await readObject(git, repositoryId, id, 'skip');
    const license = object && licenseOf(object.content.toString());
    if (license !== undefined) ids.add(license);
  }
  const licenses = [...ids];
  known.set(commit, licenses);
  return licenses;
}
