import { type FileSystem, markOf, readFileSystems } from '../filesystem.ts';
import { type Booted, layoutOf } from '../layout.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import { type Shown, showMounts } from './show-mounts.ts';

/**
 * Makes what is mounted at boot that of one head of the machine that runs: `canmount` of the others' datasets goes from `on` to
 * `noauto`, and what was switched so before comes back. `off` and what is `noauto` by somebody's wish stay. This boot shows the
 * same then, besides the root.
 * @param head name of the root
 * @throws FAILED_PRECONDITION when all is switched, and something lost its mount over it
 */
export async function switchMounts(head: string, booted: Booted, zfs: ZfsCommands): Promise<Shown> {
  const layout = layoutOf(await readFileSystems(zfs), { ...booted, dataset: head, snapshot: '' });
  const machine = layout.machines.find(({ isCurrent }) => isCurrent);
  if (machine === undefined) return { changed: false, problems: [] };
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
  const switched = new Set<FileSystem>();
  for (const one of datasetsOf(unused)) {
    if (one.canmount !== 'on' || one.path === 'none') continue;
    await zfs.set(one.name, 'croft:canmount', 'on');
    await zfs.set(one.name, 'canmount', 'noauto');
    switched.add(one);
  }
  for (const one of datasetsOf(used)) {
    if (markOf(one, 'croft:canmount') !== 'on') continue;
    // zfs-fuse unmounts it for that, and may find it too busy to mount it again.
    if (one.canmount === 'noauto') await zfs.set(one.name, 'canmount', 'on');
    await zfs.unset(one.name, 'croft:canmount');
    switched.add(one);
  }
  const mine = used.flatMap(belowRoot);
  // After an interruption nothing is switched any more, and the clones are not mounted yet.
  const isDue = (one: FileSystem) =>
    switched.has(one) || (one.canmount === 'on' && one.marks.has('croft:prepared'));
  const { changed, problems } = await showMounts(
    { used: mine, due: mine.filter(isDue), unused: unused.flatMap(belowRoot) },
    zfs,
  );
  return { changed: changed || switched.size > 0, problems };
}

function datasetsOf(trees: readonly Tree[]): readonly FileSystem[] {
  return trees.flatMap(({ datasets }) => datasets);
}

/** What is mounted after the kernel was told its root, which nobody exchanges while it runs. */
export function belowRoot({ role, root, datasets }: Tree): readonly FileSystem[] {
  return role === 'system' ? datasets.filter((one) => one !== root) : datasets;
}
