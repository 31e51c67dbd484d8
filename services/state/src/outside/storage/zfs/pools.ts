import type { Pool } from '../../../rules/states/save-plan.ts';
import type { Layout } from './layout.ts';
import { poolOf, type ZfsCommands } from './zfs-commands.ts';

/** What may still be written to the pools that saves write to, to the byte: `zpool list` rounds, and counts what redundancy takes. */
export function poolSpaces({ machines, homes, systems }: Layout): readonly Pool[] {
  const heads = machines.filter(({ isCurrent }) => isCurrent).map(({ active }) => active);
  const trees = [
    ...heads.flatMap(({ system, boots }) => [system, ...boots]),
    ...homes.flatMap((home) => home.trees),
  ];
  const pools = new Set(trees.map(({ root }) => poolOf(root.name)));
  return systems
    .filter(({ name }) => pools.has(name))
    .map(({ name, used, available }) => ({
      name: `the pool ${name}`,
      size: used + available,
      free: available,
      holds: (dataset) => poolOf(dataset) === name,
    }));
}

/** Why a pool cannot be used now; undefined when it can. @param pool empty when the root is in none */
export async function poolTrouble(pool: string, zfs: ZfsCommands): Promise<string | undefined> {
  try {
    const found = (await zfs.pools()).find(({ name }) => name === pool);
    if (pool === '') return 'the root of this machine is not on ZFS';
    if (found === undefined) return `the pool ${pool} is not imported`;
    return ['ONLINE', 'DEGRADED'].includes(found.health) ? undefined : `the pool ${pool} is ${found.health}`;
  } catch (error) {
    return (error as Error).message;
  }
}
