import { type FileSystem, jsonMarkOf, linksOf, markOf, nativePath } from './filesystem.ts';
import { findHomes, type ZfsHome } from './homes/home-layout.ts';
import { type Tree, treeOf } from './tree.ts';
import { datasetOf, isWithin } from './zfs-commands.ts';

/** What the kernel was told to run. */
export interface Booted {
  /** The dataset that is its root; empty when that is none. */
  readonly dataset: string;
  /** The snapshot that the command line names as root; empty when it names none. */
  readonly snapshot: string;
  /** The kernel's id of this boot. */
  readonly bootId: string;
}

/** One system that can be booted: a machine has one, and for each state it went back to another. */
export interface Head {
  readonly system: Tree;
  /** File systems of `/boot` in other places. */
  readonly boots: readonly Tree[];
}

/** A machine on ZFS. */
export interface ZfsMachine {
  /** The name of its first root, which stays when others take over. */
  readonly id: string;
  readonly managed: boolean;
  readonly isCurrent: boolean;
  readonly heads: readonly Head[];
  /** The head that runs; of a machine that does not run the one that did last. */
  readonly active: Head;
  /** The head that ran before this boot, while this boot goes back to a state and is not done with that. */
  readonly before: Head | undefined;
}

/** What the pools hold, as far as it concerns us. */
export interface Layout {
  readonly systems: readonly FileSystem[];
  readonly machines: readonly ZfsMachine[];
  readonly homes: readonly ZfsHome[];
}

/** Recognises machines and homes by marks, mountpoints and what was booted. */
export function layoutOf(systems: readonly FileSystem[], booted: Booted): Layout {
  const candidates = systems.filter((system) => isRoot(system, booted));
  const roots = candidates.filter(
    (root) =>
      !candidates.some((other) => other !== root && isWithin(root.name, other.name)) ||
      markOf(root, 'croft:managed') === 'yes',
  );
  const byName = new Map(roots.map((root) => [root.name, root]));
  const groups = Map.groupBy(roots, (root) => machineId(root, byName));
  const boots = bootRoots(systems, roots);
  // With one machine there is no question whose `/boot` it is that is called otherwise.
  const unnamed = groups.size === 1 ? boots.filter((boot) => !isNamedAfterAny(boot, roots)) : [];
  const machines = [...groups].map(([id, its]) => {
    const bootsOf = (root: FileSystem) => {
      const named = boots.filter((boot) => isBootOf(boot, root, id));
      const isFirst = root.name === id || its.length === 1;
      return named.length === 0 && isFirst && unnamed.length === 1 ? unnamed : named;
    };
    return machineOf(id, its, bootsOf, systems, booted);
  });
  const sorted = machines.sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || (a.id < b.id ? -1 : 1));
  return { systems, machines: sorted, homes: findHomes(systems, sorted) };
}

/** A received copy says that it is mounted at `/`, too; what it was told here says more. */
function isRoot(system: FileSystem, { dataset }: Booted): boolean {
  if (system.isVolume) return false;
  if (system.name === dataset || markOf(system, 'croft:managed') === 'yes') return true;
  if (markOf(system, 'croft:machine') !== '') return true;
  return nativePath(system) === '/' && system.hasOwnPath && system.canmount !== 'off';
}

/** A clone of a machine's root is the same machine, and so is the root that it was taken from when it was promoted. */
function machineId(root: FileSystem, roots: ReadonlyMap<string, FileSystem>, seen = 0): string {
  const named = markOf(root, 'croft:machine');
  const source = roots.get(datasetOf(root.origin));
  // A wheel cannot be made by zfs; by hand-written marks neither, as only origins are followed.
  if (named !== '' || source === undefined || seen > 100) return named || root.name;
  return machineId(source, roots, seen + 1);
}

function machineOf(
  id: string,
  roots: readonly FileSystem[],
  bootsOf: (root: FileSystem) => readonly FileSystem[],
  systems: readonly FileSystem[],
  booted: Booted,
): ZfsMachine {
  const heads = roots.map((root) => ({
    system: treeOf('system', root, systems),
    boots: bootsOf(root).map((boot) => treeOf('boot', boot, systems)),
  }));
  const active = activeOf(heads, booted);
  const before = booted.snapshot === '' || isReady(active, booted) ? undefined : lastOf(heads);
  return {
    id,
    managed: roots.some((root) => markOf(root, 'croft:managed') === 'yes'),
    isCurrent: heads.some(
      (head) =>
        [booted.dataset, datasetOf(booted.snapshot)].includes(head.system.root.name) || isReady(head, booted),
    ),
    heads,
    active,
    before: before === active ? undefined : before,
  };
}

/** The head that the kernel runs: in a boot of a snapshot its clone, which an initramfs or PrepareBoot made. */
function activeOf(heads: readonly Head[], booted: Booted): Head {
  const running = heads.find(({ system }) => system.root.name === booted.dataset);
  return running ?? heads.find((head) => isReady(head, booted)) ?? lastOf(heads);
}

/** This boot went back to a state, and this is the head it made for that. */
function isReady({ system: { root } }: Head, { snapshot, bootId }: Booted): boolean {
  const prepared = jsonMarkOf(root, 'croft:boot') as { boot?: unknown; done?: unknown } | undefined;
  return snapshot !== '' && prepared?.boot === bootId && prepared.done === true;
}

/** The head that was last found good. */
function lastOf(heads: readonly Head[]): Head {
  const known = heads.filter(
    ({ system: { root } }) => root.origin === '' || markOf(root, 'croft:turn') !== '',
  );
  return [...(known.length > 0 ? known : heads)].sort(
    (a, b) => turnOf(b) - turnOf(a) || a.system.root.origin.length - b.system.root.origin.length,
  )[0] as Head;
}

/** Counts how often the machine changed its head, so that the last one has the highest. */
export function turnOf({ system }: Head): number {
  const turn = Number(markOf(system.root, 'croft:turn'));
  return Number.isSafeInteger(turn) ? turn : 0;
}

/** Where `/boot` lies when it is not in the root's tree, such as in a pool that the boot loader can read. */
function bootRoots(systems: readonly FileSystem[], roots: readonly FileSystem[]): readonly FileSystem[] {
  const candidates = systems.filter(
    (system) =>
      !system.isVolume &&
      system.canmount !== 'off' &&
      system.hasOwnPath &&
      isWithin(nativePath(system), '/boot') &&
      !roots.some((root) => isWithin(system.name, root.name)),
  );
  return candidates.filter(
    (boot) => !candidates.some((other) => other !== boot && isWithin(boot.name, other.name)),
  );
}

function isBootOf(boot: FileSystem, root: FileSystem, machine: string): boolean {
  const links = linksOf(boot);
  return lastNameOf(boot) === lastNameOf(root) && (links.length === 0 || links.includes(machine));
}

/** Clones for a boot are named after its root, also before that is there. */
function isNamedAfterAny(boot: FileSystem, roots: readonly FileSystem[]): boolean {
  return boot.marks.has('croft:prepared') || roots.some((root) => lastNameOf(boot) === lastNameOf(root));
}

function lastNameOf({ name }: FileSystem): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
