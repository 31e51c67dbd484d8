import { storageChanged, storageRefused } from '../../../../failures.ts';
import type { Member, State } from '../../../../model/model.ts';
import type { Properties } from '../read-properties.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import { type Completion, chunksOf, freeSlot, identityOf } from './save-record.ts';

const PROPERTY = 'croft:complete';

/**
 * Writes the completion mark of a save on the first snapshot of each of its states, so that each is known without the others.
 * While that of the first state is there, its mark alone decides: it is the last one to be written.
 * @param options `isFirst`: the snapshots were made a moment ago and have no mark, so it is not looked what is there
 */
export async function writeCompletion(
  states: readonly State[],
  zfs: ZfsCommands,
  { isFirst }: { isFirst: boolean } = { isFirst: false },
): Promise<void> {
  const completion: Completion = {
    version: 1,
    states: states.map(withoutMembers),
    snapshots: states.flatMap(({ members, imported }) =>
      members.map(({ dataset, guid, bytes, unreadable, torn }) => ({
        dataset,
        guid,
        bytes,
        ...(imported === undefined ? {} : { unreadable, torn }),
      })),
    ),
  };
  const firsts = states.flatMap(({ members: [first] }) => first ?? []);
  const leads = isFirst ? [] : firsts.map(({ snapshot }) => snapshot);
  const before = await zfs.properties(leads, ['guid', 'createtxg', PROPERTY]);
  const isThere = ({ snapshot, guid }: Member) => isFirst || identityOf(before.get(snapshot)) === guid;
  // One that somebody destroyed makes its state partial.
  const other = firsts.find((first) => first.unreadable === 0 && !isThere(first));
  if (other !== undefined) throw storageChanged(`the snapshot ${other.snapshot}`);
  const names = firsts.filter(isThere).map(({ snapshot }) => snapshot);
  const writing = names
    .toReversed()
    .map((name) => ({ name, chunks: chunksFor(completion, before.get(name)) }));
  if (names.length === 0)
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
  const written = writing.flatMap(({ chunks }) => chunks.map(([property]) => property));
  const found = await zfs.properties(names, ['guid', 'createtxg', ...written]);
  const changed = firsts.find(
    ({ snapshot, guid }) => names.includes(snapshot) && identityOf(found.get(snapshot)) !== guid,
  );
  if (changed !== undefined) throw storageChanged(`the snapshot ${changed.snapshot}`);
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
