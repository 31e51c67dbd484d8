import { storageChanged, storageRefused } from '../../../../failures.ts';
import type { State } from '../../../../model/model.ts';
import type { Properties } from '../read-properties.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import { type Completion, chunkNames, chunksOf, freeSlot, identityOf, secondNames } from './save-record.ts';

const PROPERTY = 'croft:complete';

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
  const leads = states.flatMap(({ members: [first] }) =>
    first === undefined || first.unreadable > 0 ? [] : [first],
  );
  const names = leads.map(({ snapshot }) => snapshot);
  const before = await zfs.properties(names, ['guid', 'createtxg', PROPERTY]);
  const other = leads.find(({ snapshot, guid }) => identityOf(before.get(snapshot)) !== guid);
  if (other !== undefined) throw storageChanged(`the snapshot ${other.snapshot}`);
  const writing = names
    .toReversed()
    .map((name) => ({ name, chunks: chunksFor(completion, before.get(name)) }));
  if (leads.length === 0)
    throw storageRefused('nothing was saved', 'the machine has too many datasets, or none');
  // What was there is whole until the one property is set that says where the rest is.
  for (const { name, chunks } of writing)
    for (const [property, value] of chunks.slice(1)) await zfs.set(name, property, value);
  for (const [value, some] of Map.groupBy(writing, ({ chunks }) => chunks[0]?.[1] ?? ''))
    await zfs.set(
      some.map(({ name }) => name),
      PROPERTY,
      value,
    );
  const asked = ['guid', 'createtxg', ...chunkNames(PROPERTY), ...secondNames(PROPERTY)];
  const found = await zfs.properties(names, asked);
  for (const { name, chunks } of writing) {
    const marks = found.get(name);
    if (marks === undefined || chunks.some(([property, value]) => marks.get(property)?.value !== value))
      throw storageRefused('nothing was saved', `${name} does not have its completion mark`);
  }
}

/** Under names that a record does not lie under that is there already. */
function chunksFor(completion: Completion, before: Properties | undefined): [string, string][] {
  const slot = before?.has(PROPERTY) ? freeSlot(PROPERTY, before) : '';
  const chunks = chunksOf(PROPERTY, completion, slot);
  if (chunks === undefined) throw storageRefused('nothing was saved', 'the machine has too many datasets');
  return chunks;
}

/** They are written down once, for all states. */
function withoutMembers(state: State): Completion['states'][number] {
  const facts = Object.entries(state).filter(([name]) => name !== 'members');
  return Object.fromEntries(facts) as unknown as Completion['states'][number];
}
