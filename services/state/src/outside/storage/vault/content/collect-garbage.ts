import { readdir } from 'node:fs/promises';
import { contentDamaged } from '../../../../failures.ts';
import type { Freed } from '../../storage.ts';
import { readManifest } from '../trees/manifest.ts';
import type { Objects } from './objects.ts';
import { forgetHashes } from './stat-cache.ts';

/**
 * Removes every object that no manifest of `roots` names. A manifest that cannot be read ends it before anything is removed.
 * @param roots hashes of the manifests that are in use
 */
export async function collectGarbage(
  objects: Objects,
  cache: string,
  roots: Iterable<string>,
): Promise<Freed> {
  const garbage = await objects.list();
  for (const root of new Set(roots)) {
    if (!garbage.delete(root)) throw contentDamaged(`the manifest ${objects.pathOf(root)}`);
    for await (const entries of readManifest(objects.pathOf(root))) {
      for (const { hash } of entries) if (hash !== undefined) garbage.delete(hash);
    }
  }
  if (garbage.size === 0) return { objects: 0, bytes: 0 };
  // First the caches: after a crash in between nobody believes that content is there which is not.
  for (const name of await readdir(cache)) await forgetHashes(cache, name, garbage);
  let bytes = 0;
  for (const hash of garbage) bytes += await objects.remove(hash);
  return { objects: garbage.size, bytes };
}
