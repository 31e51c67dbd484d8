import type { MachineMarks } from '../../storage.ts';
import { turnOf, type ZfsMachine } from '../layout.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

/** Writes facts of a machine on the root that runs. */
export async function markHead(machine: ZfsMachine, marks: MachineMarks, zfs: ZfsCommands): Promise<void> {
  const { name } = machine.active.system.root;
  const write = async (property: string, value: string | undefined) => {
    if (value !== undefined && value !== '') await zfs.set(name, property, value);
    else await zfs.unset(name, property);
  };
  if ('prepared' in marks) await write('croft:boot', marks.prepared && JSON.stringify(marks.prepared));
  if ('nextState' in marks) {
    const { nextState: state, nextRevert: revert } = marks;
    if (state !== undefined) await zfs.set(name, 'croft:next', JSON.stringify({ state, revert }));
    // It was asked for in another root where this boot went back.
    else
      for (const { system } of machine.heads)
        if (system.root.marks.has('croft:next')) await zfs.unset(system.root.name, 'croft:next');
  }
  if ('kernel' in marks) await write('croft:last-booted-kernel', marks.kernel);
  if ('lastUsedAt' in marks) {
    const at = marks.lastUsedAt;
    // Seconds, as ZSys writes them, to the millisecond.
    await write('croft:last-used', at && String(Date.parse(at) / 1000));
    await takeTurn(machine, zfs);
  }
}

/** The head that was in use last goes before those that were in use earlier. */
async function takeTurn(machine: ZfsMachine, zfs: ZfsCommands): Promise<void> {
  const others = machine.heads.filter((head) => head !== machine.active);
  const last = Math.max(0, ...others.map(turnOf));
  if (others.length > 0 && turnOf(machine.active) <= last)
    await zfs.set(machine.active.system.root.name, 'croft:turn', String(last + 1));
}
