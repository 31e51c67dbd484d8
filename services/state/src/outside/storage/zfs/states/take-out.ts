import type { State } from '../../../../model/model.ts';
import type { Layout } from '../layout.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import { scanStates } from './scan-states.ts';
import { writeCompletion } from './write-completion.ts';

/** Some states of a save are gone: the rest of it says from now on that it is all there is. */
export async function takeOut(gone: readonly State[], layout: Layout, zfs: ZfsCommands): Promise<void> {
  const group = gone[0]?.system;
  const ids = new Set(gone.map(({ id }) => id));
  const all = (await scanStates(layout, zfs)).states;
  const left = all.filter(({ id, system }) => (id === group || system === group) && !ids.has(id));
  if (left.length > 0) await writeCompletion(left, zfs);
}
