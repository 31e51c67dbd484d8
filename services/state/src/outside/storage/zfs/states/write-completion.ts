import { storageChanged, storageRefused } from '../../../../failures.ts';
import type { State } from '../../../../model/model.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import { type Completion, chunkNames, chunksOf, identityOf } from './save-record.ts';

/**
 * Writes the completion mark of a save on the first snapshot of each of its states, so that each is known without the others.
 * While that of the first state is there, its mark alone decides: it is the last one to be written.
 */
export async function writeCompletion(states: readonly State[], zfs: ZfsCommands): Promise<void> {
  const completion: Completion = {
    version: 1,
    states: states.map(withoutMembers),
    snapshots: states.flatMap(({ members }) =>
      members.map(({ dataset, guid, bytes }) => ({ dataset, guid, bytes })),
    ),
  };
  const chunks = chunksOf('croft:complete', completion);
  const leads = states.flatMap(({ members: [first] }) =>
    first === undefined || first.unreadable > 0 ? [] : [first.snapshot],
  );
  if (chunks === undefined || leads.length === 0)
    throw storageRefused('nothing was saved', 'the machine has too many datasets, or none');
  for (const [property, value] of chunks.toReversed()) await zfs.set(leads.toReversed(), property, value);
  const found = await zfs.properties(leads, ['guid', 'createtxg', ...chunkNames('croft:complete')]);
  for (const { snapshot, guid } of states.flatMap(({ members }) => members.slice(0, 1))) {
    const marks = found.get(snapshot);
    if (marks === undefined) continue;
    if (identityOf(marks) !== guid) throw storageChanged(`the snapshot ${snapshot}`);
    if (chunks.some(([property, value]) => marks.get(property)?.value !== value))
      throw storageRefused('nothing was saved', `${snapshot} does not have its completion mark`);
  }
  if (found.size < leads.length) throw storageChanged(`a snapshot of ${states[0]?.name}`);
}

/** They are written down once, for all states. */
function withoutMembers(state: State): Completion['states'][number] {
  const facts = Object.entries(state).filter(([name]) => name !== 'members');
  return Object.fromEntries(facts) as unknown as Completion['states'][number];
}
