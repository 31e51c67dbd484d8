import { Failure } from '@croft/failure';
import { removalUnfinished, storageChanged, storageRefused } from '../../../../failures.ts';
import type { Member } from '../../../../model/model.ts';
import type { Layout } from '../layout.ts';
import { datasetOf, type Origin, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { chunkNames, identityOf, isOfSave, type Outline, recordOf } from './save-record.ts';
import { treesOf } from './scan-states.ts';

const IDENTITY = ['guid', 'createtxg'];
const ASKED = [...IDENTITY, ...chunkNames('croft:state')];

/**
 * Destroys the snapshots of states one by one, as `-r` takes what others made below under the same name. @throws
 * FAILED_PRECONDITION before anything is touched when something depends on one of them; `removal_unfinished` later
 */
export async function destroySnapshots(
  members: readonly Member[],
  systems: readonly Origin[],
  zfs: ZfsCommands,
): Promise<void> {
  const names = members.map(({ snapshot }) => snapshot);
  const clone = systems.find(({ origin }) => names.includes(origin));
  if (clone !== undefined)
    throw storageRefused(`${clone.origin} was not removed`, `${clone.name} is a clone of it`);
  let hasBegun = false;
  try {
    // The first last: while it is there, what is left of the save can be found.
    for (const { snapshot, guid } of members.toReversed()) {
      const there = identityOf((await zfs.properties([snapshot], IDENTITY)).get(snapshot));
      if (there === '') continue;
      if (there !== guid) throw storageChanged(`the snapshot ${snapshot}`);
      await destroyOne(snapshot, guid, zfs);
      hasBegun = true;
    }
  } catch (error) {
    throw hasBegun && error instanceof Failure ? removalUnfinished(error) : error;
  }
}

async function destroyOne(snapshot: string, identity: string, zfs: ZfsCommands): Promise<void> {
  const ran = await zfs.zfs('destroy', snapshot);
  const still = (await zfs.properties([snapshot], IDENTITY)).get(snapshot);
  if (identityOf(still) === identity) throw refusal(`${snapshot} was not removed`, ran);
}

/** Destroys what an unfinished save made, wherever in the pools it lies. */
export async function discardSave(id: string, layout: Layout, zfs: ZfsCommands): Promise<void> {
  const roots = [...new Set(treesOf(layout).map(({ root }) => root.name))];
  const ours = (await zfs.snapshotsOf(roots)).filter((name) => isOfSave(name, id));
  const ends = [...new Set(ours.map((name) => name.slice(name.indexOf('@'))))];
  // A recursive snapshot takes what is not ours as well, and was perhaps not pruned.
  const possible = ends.flatMap((end) => layout.systems.map(({ name }) => `${name}${end}`));
  const found = await zfs.properties(possible, ASKED);
  const made = [...found].filter(([, marks]) => recordOf<Outline>('croft:state', marks)?.id === id);
  const isOwnRoot = ([name]: readonly [string, unknown]) => roots.includes(datasetOf(name));
  for (const [name, marks] of [...made.filter((one) => !isOwnRoot(one)), ...made.filter(isOwnRoot)]) {
    await destroyOne(name, identityOf(marks), zfs);
  }
}

/** Marks a save so that no scan takes it for one that was begun only. */
export async function keepSave(id: string, layout: Layout, zfs: ZfsCommands): Promise<void> {
  const roots = [...new Set(treesOf(layout).map(({ root }) => root.name))];
  const ours = (await zfs.snapshotsOf(roots)).filter((name) => isOfSave(name, id));
  const found = await zfs.properties(ours, [...ASKED, 'croft:complete']);
  const bare = [...found].filter(
    ([, marks]) => recordOf<Outline>('croft:state', marks)?.id === id && !marks.has('croft:complete'),
  );
  for (const [name] of bare) await zfs.set(name, 'croft:complete', 'lost');
}
