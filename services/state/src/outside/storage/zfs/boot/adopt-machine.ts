import { markOf } from '../filesystem.ts';
import { userOf } from '../homes/home-layout.ts';
import type { Layout } from '../layout.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/**
 * Marks the machine that runs as managed, and the homes that ZSys linked to it as homes of it. Marks that are there stay, those
 * of ZSys, too, so that it can be gone back to.
 */
export async function adoptMachine({ machines, systems }: Layout, zfs: ZfsCommands): Promise<void> {
  const current = machines.find(({ isCurrent }) => isCurrent);
  if (current === undefined || current.managed) return;
  const root = current.active.system.root.name;
  for (const system of systems) {
    const roots = markOf(system, 'com.ubuntu.zsys:bootfs-datasets').split(',');
    if (!roots.includes(root) || system.marks.has('croft:links')) continue;
    await zfs.set(system.name, 'croft:user', userOf(system));
    await zfs.set(system.name, 'croft:links', current.id);
  }
  // Last: it says that all of this is done.
  await zfs.set(root, 'croft:managed', 'yes');
}
