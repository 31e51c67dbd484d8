import { Failure } from '@croft/failure';
import { removalUnfinished, storageChanged } from '../../../../failures.ts';
import type { Ran } from '../../../programs.ts';
import type { Dependant } from '../../storage.ts';
import { type FileSystem, markOf } from '../filesystem.ts';
import type { Layout } from '../layout.ts';
import type { Tree } from '../tree.ts';
import { datasetOf, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { adoptedNames, isOfAnySave } from './adopted-names.ts';
import { isView } from './view-snapshot.ts';

/** What was cloned from snapshots, what lies below and was cloned from that, deepest first. */
export async function findDependants(
  snapshots: readonly string[],
  layout: Layout,
  zfs: ZfsCommands,
): Promise<readonly Dependant[]> {
  const { systems } = layout;
  const clones = systems.filter(({ origin }) => snapshots.includes(origin));
  if (clones.length === 0) return [];
  const made = new Set<FileSystem>();
  for (const clone of clones) addMadeFrom(clone, systems, made);
  const all = await zfs.snapshotsOf([...made].map(({ name }) => name));
  const guids = await zfs.properties(all, ['guid']);
  const used = new Set(inUse(layout).map(({ name }) => name));
  return deepestFirst([...made], all, systems).flatMap((system): Dependant[] => [
    ...all
      .filter((name) => datasetOf(name) === system.name)
      .map((name) => ({
        name,
        guid: guids.get(name)?.get('guid')?.value ?? '',
        kind: 'snapshot' as const,
        inUse: false,
        isMounted: false,
      })),
    {
      name: system.name,
      guid: system.guid,
      kind: system.origin === '' ? ('dataset' as const) : ('clone' as const),
      inUse: used.has(system.name),
      isMounted: system.isMounted,
    },
  ]);
}

function addMadeFrom(system: FileSystem, systems: readonly FileSystem[], made: Set<FileSystem>): void {
  made.add(system);
  for (const other of systems)
    if (!made.has(other) && (datasetOf(other.origin) === system.name || isChild(other.name, system.name)))
      addMadeFrom(other, systems, made);
}

/** A save goes as a whole, so what was cloned from any of its snapshots goes before the first dataset that has one. */
function deepestFirst(
  systems: readonly FileSystem[],
  snapshots: readonly string[],
  all: readonly FileSystem[],
): readonly FileSystem[] {
  const adopted = adoptedNames(all);
  const seen = new Set<FileSystem>();
  const order: FileSystem[] = [];
  const visit = (system: FileSystem) => {
    if (seen.has(system)) return;
    seen.add(system);
    const own = snapshots.filter((name) => datasetOf(name) === system.name);
    const saves = new Set(own.filter((name) => isOfAnySave(name, adopted)).map(endOf));
    for (const other of systems) {
      const isMadeFromIt = datasetOf(other.origin) === system.name || saves.has(endOf(other.origin));
      if (isMadeFromIt || isChild(other.name, system.name)) visit(other);
    }
    order.push(system);
  };
  for (const system of systems) visit(system);
  return order;
}

/** What the snapshots of one save have in common. */
function endOf(snapshot: string): string {
  return snapshot.slice(snapshot.indexOf('@') + 1);
}

function isChild(name: string, parent: string): boolean {
  return name.slice(0, name.lastIndexOf('/')) === parent;
}

function inUse({ machines, homes, systems }: Layout): readonly FileSystem[] {
  const heads = machines.flatMap(({ active }) => [active.system, ...active.boots]);
  const trees: readonly Tree[] = [...heads, ...homes.flatMap((home) => home.trees)];
  const views = systems.filter(({ name }) => isView(name));
  return [...trees.flatMap(({ datasets }) => datasets), ...views];
}

/** Destroys them one by one: `destroy -r` of what has clones stops zfs-fuse 0.7 for good. */
export async function releaseDependants(dependants: readonly Dependant[], zfs: ZfsCommands): Promise<void> {
  const names = dependants.map(({ name }) => name);
  const found = await zfs.properties(names, ['guid']);
  const other = dependants.find(({ name, guid }) => {
    const there = found.get(name)?.get('guid')?.value;
    return there !== undefined && there !== guid;
  });
  if (other !== undefined) throw storageChanged(other.name);
  // Of what `get` does not tell the guid it is not known what it is; what is gone needs nothing.
  for (const name of names.filter((each) => found.has(each))) {
    const refused = await refusalOf(name, zfs).catch((error) => {
      // Whether it is gone is not known, so it counts as begun.
      throw error instanceof Failure ? removalUnfinished(error) : error;
    });
    if (refused !== undefined) throw refusal(`${name} was not removed`, refused);
  }
}

/** Destroys it. @returns what zfs said when it is still there */
async function refusalOf(name: string, zfs: ZfsCommands): Promise<Ran | undefined> {
  const ran = await zfs.zfs('destroy', name);
  return (await zfs.properties([name], ['guid'])).size > 0 ? ran : undefined;
}

/**
 * Destroys heads and homes that states were gone back from, as soon as no snapshot of them is left; not those that have what no
 * state has. @returns how many
 */
export async function collectRetired({ machines, homes }: Layout, zfs: ZfsCommands): Promise<number> {
  const heads = machines.flatMap(({ active, heads: all }) => all.filter((head) => head !== active));
  const left = homes.flatMap(({ trees, heads: all }) => all.filter((tree) => !trees.includes(tree)));
  const retired = [...heads.flatMap(({ system, boots }) => [system, ...boots]), ...left].filter(
    ({ root }) => markOf(root, 'croft:retired') === 'yes',
  );
  let count = 0;
  for (const { datasets } of retired) {
    const names = datasets.map(({ name }) => name);
    if (datasets.some(({ isMounted }) => isMounted)) continue;
    if ((await zfs.snapshotsOf(names)).length > 0) continue;
    for (const name of names.toReversed()) await zfs.zfs('destroy', name);
    count++;
  }
  return count;
}
