import { storageChanged } from '../../../../failures.ts';
import type { Adoption } from '../../storage.ts';
import { type FileSystem, markOf } from '../filesystem.ts';
import { userOf } from '../homes/home-layout.ts';
import { textOf } from '../homes/home-place.ts';
import type { Layout, ZfsMachine } from '../layout.ts';
import { adoptedMark, adoptedNames, hasRoom } from '../states/adopted-names.ts';
import { chunksOf } from '../states/save-record.ts';
import { scanStates } from '../states/scan-states.ts';
import { writeCompletion } from '../states/write-completion.ts';
import { treeOf } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import type { ZsysSave } from './zsys-save.ts';
import { findZsysSaves } from './zsys-saves.ts';

/**
 * What makes a machine one of ours: the mark on its root, homes that ZSys linked to it, and what ZSys saved. Marks that are there
 * stay, those of ZSys, too, and its snapshots keep their names, so that it can be gone back to.
 */
export async function findAdoption(id: string, layout: Layout, zfs: ZfsCommands): Promise<Adoption> {
  const machine = layout.machines.find((one) => one.id === id);
  if (machine === undefined) throw storageChanged(`the machine ${id}`);
  const homes = unlinkedHomes(machine, layout);
  const trees = [
    ...homes.map((home) => treeOf('user', home, layout.systems, userOf(home))),
    ...layout.homes.filter(({ machines }) => machines.includes(id)).flatMap(({ heads }) => heads),
  ];
  const { states } = await scanStates(layout, zfs);
  const saves = await findZsysSaves(machine, trees, states, zfs);
  const names = new Set(adoptedNames(layout.systems));
  const fitting = saves.filter(({ end, outline }) => {
    if (chunksOf('croft:state', outline) === undefined || !hasRoom([...names, end])) return false;
    names.add(end);
    return true;
  });
  return {
    isNew: !machine.managed,
    homes: homes.map((home) => ({ user: userOf(home), dataset: home.name, path: textOf(home.path) })),
    states: fitting.flatMap((save) => save.states),
    left: saves.length - fitting.length,
    adopt: () => adopt(machine, homes, fitting, adoptedMark(names), zfs),
  };
}

/** Homes that ZSys linked to what the machine runs, and nobody linked here. */
function unlinkedHomes({ active }: ZfsMachine, { systems }: Layout): readonly FileSystem[] {
  return systems.filter((system) => {
    const roots = markOf(system, 'com.ubuntu.zsys:bootfs-datasets').split(',');
    return roots.includes(active.system.root.name) && !system.marks.has('croft:links');
  });
}

/**
 * Each step can be done again. What ZSys saved is looked at when its name is in the mark of a root, and is a state when the first of
 * its snapshots has its completion mark.
 */
async function adopt(
  machine: ZfsMachine,
  homes: readonly FileSystem[],
  saves: readonly ZsysSave[],
  names: string,
  zfs: ZfsCommands,
): Promise<void> {
  for (const home of homes) {
    await zfs.set(home.name, 'croft:user', userOf(home));
    await zfs.set(home.name, 'croft:links', machine.id);
  }
  for (const { states, outline, end } of saves) {
    const roots = outline.trees.map(({ root }) => `${root}@${end}`);
    for (const [property, value] of chunksOf('croft:state', outline) ?? [])
      await zfs.set(roots, property, value);
    await writeCompletion(states, zfs);
  }
  if (saves.length > 0)
    for (const { system } of machine.heads) await zfs.set(system.root.name, 'croft:adopted', names);
  // Last: it says that all of this is done.
  if (!machine.managed) await zfs.set(machine.active.system.root.name, 'croft:managed', 'yes');
}
