import { type FileSystem, jsonMarkOf, linksOf, markOf } from '../filesystem.ts';
import { type Tree, treeOf } from '../tree.ts';
import { datasetOf } from '../zfs-commands.ts';

/** A user's home on ZFS. */
export interface ZfsHome {
  readonly user: string;
  /** Ids of the machines it belongs to. */
  readonly machines: readonly string[];
  readonly emptying: boolean;
  /** What is in use, the home itself first: others of his hold things that lie elsewhere. */
  readonly trees: readonly [Tree, ...Tree[]];
  /** These, and those of states that were gone back from. */
  readonly heads: readonly Tree[];
}

/** What homes need to know of a machine. */
interface RunningMachine {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly active: { readonly system: Tree };
}

/** Homes by user; of one who has several on several machines that of the machine that runs. */
export function findHomes(
  systems: readonly FileSystem[],
  machines: readonly RunningMachine[],
): readonly ZfsHome[] {
  const roots = systems.filter(
    (system) => !system.isVolume && (system.marks.has('croft:links') || system.marks.has('croft:user')),
  );
  const current = machines.find(({ isCurrent }) => isCurrent);
  return [...Map.groupBy(roots, userOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([user, its]) => homeOf(user, its, systems, current));
}

/** Whose home it is: what it says, else its name without what makes it unique. */
export function userOf(system: FileSystem): string {
  const last = system.name.slice(system.name.lastIndexOf('/') + 1);
  return markOf(system, 'croft:user') || last.replace(/(.)_[^_]*$/, '$1');
}

function homeOf(
  user: string,
  roots: readonly FileSystem[],
  systems: readonly FileSystem[],
  current: RunningMachine | undefined,
): ZfsHome {
  const used = inUse(roots, current);
  const main = [...used].sort((a, b) => a.path.length - b.path.length || (a.name < b.name ? -1 : 1));
  const prepared = main.some((root) => root.marks.has('croft:prepared'));
  const links = main[0] === undefined ? [] : linksOf(main[0]);
  const heads = roots.map((root) => treeOf('user', root, systems, user));
  return {
    user,
    // What is prepared for the head that runs belongs to its machine before anything is committed.
    machines: prepared && current !== undefined ? [...new Set([...links, current.id])].sort() : links,
    emptying: main.some((root) => markOf(root, 'croft:emptying') !== ''),
    trees: main.map((root) => heads.find((tree) => tree.root === root)) as [Tree, ...Tree[]],
    heads,
  };
}

function inUse(roots: readonly FileSystem[], current: RunningMachine | undefined): readonly FileSystem[] {
  const running = current?.active.system.root.name ?? '';
  const prepared = roots.filter((root) => isPreparedFor(root, running));
  const committed = roots.filter((root) => !root.marks.has('croft:prepared') && !isRetired(root));
  const linked = committed.filter((root) => current !== undefined && linksOf(root).includes(current.id));
  if (prepared.length > 0) {
    // What was not gone back with goes on as it was.
    const replaced = new Set(prepared.map((root) => lineageOf(root, roots)));
    return [
      ...prepared,
      ...linked.filter((root) => !prepared.includes(root) && !replaced.has(lineageOf(root, roots))),
    ];
  }
  const elsewhere = committed.filter((root) => linksOf(root).length > 0);
  return [linked, elsewhere, committed, roots].find((some) => some.length > 0) ?? [];
}

/** Clones of clones of one dataset have the one in common that is no clone, whichever that is after promotions. */
function lineageOf(root: FileSystem, roots: readonly FileSystem[]): string {
  let { name, origin } = root;
  for (const _ of roots) {
    const source = roots.find((other) => other.name === datasetOf(origin));
    if (source === undefined) break;
    ({ name, origin } = source);
  }
  return name;
}

/** A clone that waits for the commit of the boot it was made for. */
export function isPreparedFor(system: FileSystem, head: string): boolean {
  return (jsonMarkOf(system, 'croft:prepared') as { head?: unknown } | undefined)?.head === head;
}

/** The machine went back from it: it only holds snapshots. */
export function isRetired(system: FileSystem): boolean {
  return markOf(system, 'croft:retired') !== '';
}
