import { rmdir } from 'node:fs/promises';
import { homeRefused } from '../../../../failures.ts';
import { isBelow } from '../../../mounts.ts';
import { type FileSystem, nativePath, readFileSystems } from '../filesystem.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/** Where a dataset lies and is to lie. */
interface Place {
  readonly system: FileSystem;
  readonly to: string;
}

/**
 * Moves the first of a user's trees, and whatever of his is mounted in it; what lies elsewhere stays there. Undone where it
 * fails. @param to where nothing lies, or an empty folder @throws FAILED_PRECONDITION
 */
export async function moveTrees(
  trees: readonly [Tree, ...Tree[]],
  to: string,
  path: string,
  zfs: ZfsCommands,
): Promise<void> {
  const { root } = trees[0];
  const from = root.path;
  const places = trees
    .flatMap(({ datasets }) => datasets)
    .filter((system) => isBelow(system.path, from))
    .map((system) => ({ system, to: `${to}${system.path.slice(from.length)}` }))
    .sort((a, b) => a.to.length - b.to.length);
  // What has no mountpoint of its own goes with what it has it from.
  const own = places.filter(({ system }) => system === root || system.hasOwnPath);
  const mounted = places.filter(({ system }) => system.isMounted).map(({ system }) => system);
  const changed: FileSystem[] = [];
  try {
    // The mounts in it would keep it where it is.
    for (const { name } of mounted.filter((system) => system !== root).reverse()) {
      const { ok, why } = await zfs.zfs('unmount', name);
      if (!ok) throw new Error(why);
    }
    for (const place of own) {
      changed.push(place.system);
      await put(place.system, place.to, zfs);
    }
    await mountAll(mounted, zfs);
    await checkMounted(places, zfs);
  } catch (error) {
    for (const system of changed.toReversed()) await put(system, system.path, zfs).catch(() => {});
    await mountAll(mounted, zfs);
    throw homeRefused(path, (error as Error).message);
  }
  // Only what is empty goes, and that is what a mount point is.
  await rmdir(from).catch(() => {});
}

async function put({ name, altroot }: FileSystem, path: string, zfs: ZfsCommands): Promise<void> {
  await zfs.set(name, 'mountpoint', nativePath({ path, altroot }));
}

/** Those that zfs has mounted by itself it refuses to mount again. */
async function mountAll(systems: readonly FileSystem[], zfs: ZfsCommands): Promise<void> {
  for (const { name } of systems) await zfs.zfs('mount', name);
}

/** zfs says that it did what it could not, so it is asked again. */
async function checkMounted(places: readonly Place[], zfs: ZfsCommands): Promise<void> {
  const now = new Map((await readFileSystems(zfs)).map((system) => [system.name, system]));
  for (const { system, to } of places) {
    const { path, isMounted } = now.get(system.name) ?? {};
    if (system.isMounted && !(isMounted && path === to)) throw new Error(`${system.name} was not mounted`);
  }
}
