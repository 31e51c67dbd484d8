import { rmdir } from 'node:fs/promises';
import { homeRefused } from '../../../../failures.ts';
import { isBelow } from '../../../mounts.ts';
import { type FileSystem, markOf, nativePath, readFileSystems } from '../filesystem.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import type { ZfsHome } from './home-layout.ts';
import { textOf } from './home-place.ts';

/** On a home that is being moved: where it lay. */
const MOVING = 'croft:moving';

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
  const mounted = places.filter(({ system }) => system.isMounted).map(({ system }) => system.name);
  const changed: FileSystem[] = [];
  await zfs.set(root.name, MOVING, nativePath(root));
  try {
    // The mounts in it would keep it where it is.
    for (const name of mounted.filter((one) => one !== root.name).reverse()) {
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
    // What can be neither done nor undone now the next start finishes.
    const before = places.map(({ system }) => ({ system, to: system.path }));
    await checkMounted(before, zfs)
      .then(() => zfs.unset(root.name, MOVING))
      .catch(() => {});
    throw homeRefused(path, (error as Error).message);
  }
  await zfs.unset(root.name, MOVING);
  // Only what is empty goes, and that is what a mount point is.
  await rmdir(from).catch(() => {});
}

/**
 * At the first look, when nobody writes: finishes moves during which somebody was killed.
 * @returns what was done and what could not be, one line each
 */
export async function finishMoves(homes: readonly ZfsHome[], zfs: ZfsCommands): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const { trees } of homes) {
    const moving = trees.find(({ root }) => markOf(root, MOVING) !== '')?.root;
    if (moving === undefined) continue;
    const systems = trees.flatMap(({ datasets }) => datasets);
    const home = textOf(moving.path);
    const note = await finishMove(moving, systems, zfs).then(
      (left) => [`the move of the home ${home} was interrupted and is finished now`, ...left].join('; '),
      // Nobody is kept from the rest by that.
      (error: Error) =>
        `the move of the home ${home} was interrupted and cannot be finished now; the next start tries again: ${error.message}`,
    );
    notes.push(note);
  }
  return notes;
}

/**
 * What has a mountpoint of its own follows the home to where it is, and what is mounted by itself is mounted.
 * @returns what could not be mounted, one line each
 */
async function finishMove(
  root: FileSystem,
  systems: readonly FileSystem[],
  zfs: ZfsCommands,
): Promise<readonly string[]> {
  const [from, to] = [`${root.altroot}${markOf(root, MOVING)}`, root.path];
  const places = systems
    .filter(({ path }) => isBelow(path, from) || isBelow(path, to))
    .map((system) => ({
      system,
      to: isBelow(system.path, to) ? system.path : `${to}${system.path.slice(from.length)}`,
    }))
    .sort((a, b) => a.to.length - b.to.length);
  const behind = places.filter((place) => place.to !== place.system.path && place.system.hasOwnPath);
  for (const place of behind) await put(place.system, place.to, zfs);
  const automatic = places.filter(({ system }) => system.canmount === 'on').map(({ system }) => system.name);
  await mountAll(automatic, zfs);
  const now = await zfs.properties(automatic, ['mounted']);
  await zfs.unset(root.name, MOVING);
  const missing = automatic.filter((name) => now.get(name)?.get('mounted')?.value !== 'yes');
  return missing.map((name) => `${name} could not be mounted`);
}

async function put({ name, altroot }: FileSystem, path: string, zfs: ZfsCommands): Promise<void> {
  await zfs.set(name, 'mountpoint', nativePath({ path, altroot }));
}

/** Those that zfs has mounted by itself it refuses to mount again. */
async function mountAll(names: readonly string[], zfs: ZfsCommands): Promise<void> {
  for (const name of names) await zfs.zfs('mount', name);
}

/** zfs says that it did what it could not, so it is asked again. */
async function checkMounted(places: readonly Place[], zfs: ZfsCommands): Promise<void> {
  const now = new Map((await readFileSystems(zfs)).map((system) => [system.name, system]));
  for (const { system, to } of places) {
    const { path, isMounted } = now.get(system.name) ?? {};
    if (system.isMounted && !(isMounted && path === to)) throw new Error(`${system.name} was not mounted`);
  }
}
