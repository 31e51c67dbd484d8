import { storageChanged } from '../../../../failures.ts';
import type { Dependant } from '../../storage.ts';
import type { FileSystem } from '../filesystem.ts';
import type { Layout } from '../layout.ts';
import type { Tree } from '../tree.ts';
import { datasetOf, refusal, type ZfsCommands } from '../zfs-commands.ts';

/** What was cloned from snapshots, what lies below and was cloned from that, deepest first. */
export async function findDependants(
  snapshots: readonly string[],
  layout: Layout,
  zfs: ZfsCommands,
): Promise<readonly Dependant[]> {
  const { systems } = layout;
  const clones = systems.filter(({ origin }) => snapshots.includes(origin));
  if (clones.length === 0) return [];
  const order: FileSystem[] = [];
  for (const clone of clones) visit(clone, systems, order);
  const names = order.map(({ name }) => name);
  const all = await zfs.snapshotsOf(names);
  const guids = await zfs.properties(all, ['guid']);
  const used = new Set(inUse(layout).map(({ name }) => name));
  return order.flatMap((system): Dependant[] => [
    ...all
      .filter((name) => datasetOf(name) === system.name)
      .map((name) => ({
        name,
        guid: guids.get(name)?.get('guid')?.value ?? '',
        kind: 'snapshot' as const,
        inUse: false,
      })),
    {
      name: system.name,
      guid: system.guid,
      kind: system.origin === '' ? ('dataset' as const) : ('clone' as const),
      inUse: used.has(system.name),
    },
  ]);
}

function visit(system: FileSystem, systems: readonly FileSystem[], order: FileSystem[]): void {
  if (order.includes(system)) return;
  for (const other of systems) {
    if (datasetOf(other.origin) === system.name || isChild(other.name, system.name))
      visit(other, systems, order);
  }
  order.push(system);
}

function isChild(name: string, parent: string): boolean {
  return name.slice(0, name.lastIndexOf('/')) === parent;
}

function inUse({ machines, homes, systems }: Layout): readonly FileSystem[] {
  const heads = machines.flatMap(({ active }) => [active.system, ...active.boots]);
  const trees: readonly Tree[] = [...heads, ...homes.flatMap((home) => home.trees)];
  const views = systems.filter(({ name }) => /^[^/]+\/croft_view_[0-9a-f]{12}$/.test(name));
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
    const ran = await zfs.zfs('destroy', name);
    if ((await zfs.properties([name], ['guid'])).size > 0) throw refusal(`${name} was not removed`, ran);
  }
}

/** Destroys heads and homes that states were gone back from, as soon as no snapshot of them is left. @returns how many */
export async function collectRetired({ machines, homes }: Layout, zfs: ZfsCommands): Promise<number> {
  const heads = machines.flatMap(({ active, heads: all }) => all.filter((head) => head !== active));
  const left = homes.flatMap(({ trees, heads: all }) => all.filter((tree) => !trees.includes(tree)));
  const retired = [...heads.flatMap(({ system, boots }) => [system, ...boots]), ...left].filter(({ root }) =>
    root.marks.has('croft:retired'),
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
