import type { Member } from '../../../model/model.ts';
import { type FileSystem, markOf } from './filesystem.ts';
import { isWithin } from './zfs-commands.ts';

/** Datasets that are saved as one, the root first and each before what lies below it. */
export interface Tree {
  readonly role: Member['role'];
  readonly user?: string;
  readonly root: FileSystem;
  readonly datasets: readonly FileSystem[];
}

/**
 * A root and what lies below it, without volumes, without what is marked `croft:managed=no`, and without what is mounted by
 * other means (`legacy`: layers of containers by the hundred).
 */
export function treeOf(
  role: Member['role'],
  root: FileSystem,
  systems: readonly FileSystem[],
  user?: string,
): Tree {
  const left: string[] = [];
  const datasets = systems.filter((system) => {
    if (!isWithin(system.name, root.name)) return false;
    if (system === root) return true;
    const mark = markOf(system, 'croft:managed');
    const isOut = system.isVolume || mark === 'no' || (system.path === 'legacy' && mark !== 'yes');
    if (isOut) left.push(system.name);
    return !isOut && !left.some((name) => isWithin(system.name, name));
  });
  return { role, root, datasets: byDepth(datasets), ...(user === undefined ? {} : { user }) };
}

function byDepth(systems: readonly FileSystem[]): readonly FileSystem[] {
  return [...systems].sort((a, b) => (a.name < b.name ? -1 : 1));
}
