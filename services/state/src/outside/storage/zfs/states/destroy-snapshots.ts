import { Failure } from '@croft/failure';
import { removalUnfinished, storageChanged, storageRefused } from '../../../../failures.ts';
import type { Member } from '../../../../model/model.ts';
import type { Ran } from '../../../programs.ts';
import type { Layout } from '../layout.ts';
import { AT_ONCE, datasetOf, type Origin, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { chunkNames, identityOf, isOfSave, type Outline, recordOf } from './save-record.ts';
import { treesOf } from './scan-states.ts';

const IDENTITY = ['guid', 'createtxg'];
const ASKED = [...IDENTITY, ...chunkNames('croft:state')];

/**
 * Destroys the snapshots of states by their exact names, as `-r` takes what others made below under the same name, and stops
 * zfs-fuse where somebody cloned one.
 * @param members those whose identity was just read
 * @throws FAILED_PRECONDITION before anything is touched when something depends on one of them; `removal_unfinished` later
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
    let left = members;
    while (left.length > 0) {
      // The first last, and alone: while it is there, what is left of the save can be found.
      const some = left.length === 1 ? left : left.slice(1).slice(-AT_ONCE);
      const ended = await zfs.destroyAtOnce(some.map(({ snapshot }) => snapshot));
      // What did not end may still happen.
      hasBegun ||= ended.some((one) => one.status === 'rejected' || one.value.ok);
      const ran = ended.map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
      const found = await zfs.properties(
        left.map(({ snapshot }) => snapshot),
        IDENTITY,
      );
      const isSame = ({ snapshot, guid }: Member) => identityOf(found.get(snapshot)) === guid;
      hasBegun ||= !some.every(isSame);
      for (const [at, member] of some.entries())
        if (isSame(member)) throw refusal(`${member.snapshot} was not removed`, ran[at] as Ran);
      left = left.filter((member) => !some.includes(member) && found.has(member.snapshot));
      const other = left.find((member) => !isSame(member));
      if (other !== undefined) throw storageChanged(`the snapshot ${other.snapshot}`);
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
