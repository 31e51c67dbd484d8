import { storageRefused } from '../../../../failures.ts';
import { type FileSystem, markOf, readFileSystems } from '../filesystem.ts';
import { type Booted, layoutOf } from '../layout.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/**
 * Makes what is mounted at boot that of one head of the machine that runs: `canmount` of the others' datasets goes from `on` to
 * `noauto`, and what was switched so before comes back. `off` and what is `noauto` by somebody's wish stay.
 * @param head name of the root
 * @returns whether anything was switched
 * @throws FAILED_PRECONDITION when all is switched, and something lost its mount over it
 */
export async function switchMounts(head: string, booted: Booted, zfs: ZfsCommands): Promise<boolean> {
  const layout = layoutOf(await readFileSystems(zfs), { ...booted, dataset: head, snapshot: '' });
  const machine = layout.machines.find(({ isCurrent }) => isCurrent);
  if (machine === undefined) return false;
  const used = [machine.active.system, ...machine.active.boots];
  const unused = machine.heads
    .filter((other) => other !== machine.active)
    .flatMap(({ system, boots }) => [
      system,
      ...boots.filter((boot) => !used.some(({ root }) => root === boot.root)),
    ]);
  for (const { trees, heads, machines } of layout.homes) {
    if (!machines.includes(machine.id)) continue;
    used.push(...trees);
    unused.push(...heads.filter((tree) => !trees.includes(tree)));
  }
  let changed = false;
  const lost: string[] = [];
  for (const one of datasetsOf(unused)) {
    if (one.canmount !== 'on' || one.path === 'none') continue;
    await zfs.set(one.name, 'croft:canmount', 'on');
    await zfs.set(one.name, 'canmount', 'noauto');
    changed = true;
  }
  for (const one of datasetsOf(used)) {
    if (markOf(one, 'croft:canmount') !== 'on') continue;
    if (one.canmount === 'noauto') {
      await zfs.set(one.name, 'canmount', 'on');
      // zfs-fuse unmounts it for that, and may find it too busy to mount it again. What is mounted it refuses to mount.
      if (one.isMounted && !(await mountAgain(one.name, zfs))) lost.push(one.name);
    }
    await zfs.unset(one.name, 'croft:canmount');
    changed = true;
  }
  if (lost.length > 0)
    throw storageRefused(
      'something was unmounted',
      `mount it again with ${lost.map((name) => `\`zfs mount ${name}\``).join(' and ')}, as the next boot does by itself`,
    );
  return changed;
}

async function mountAgain(name: string, zfs: ZfsCommands): Promise<boolean> {
  return (await zfs.zfs('mount', name)).ok || (await zfs.isMounted(name));
}

function datasetsOf(trees: readonly Tree[]): readonly FileSystem[] {
  return trees.flatMap(({ datasets }) => datasets);
}
