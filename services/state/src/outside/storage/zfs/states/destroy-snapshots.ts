import { storageRefused } from '../../../../failures.ts';
import type { Member } from '../../../../model/model.ts';
import type { Ran } from '../../../programs.ts';
import type { Layout } from '../layout.ts';
import { datasetOf, isWithin, type Origin, refusal, type ZfsCommands } from '../zfs-commands.ts';
import { chunkNames, identityOf, isOfSave, type Outline, recordOf } from './save-record.ts';
import { treesOf } from './scan-states.ts';

const ASKED = ['guid', 'createtxg', ...chunkNames('croft:state')];

/**
 * Destroys the snapshots of states, tree by tree. @throws FAILED_PRECONDITION before anything is touched when something depends
 * on one of them
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
  const roots = names.filter((name) => !names.some((other) => other !== name && isBelow(name, other)));
  let said: Ran | undefined;
  // The first last: while it is there, what is left of the save can be found.
  for (const root of roots.toReversed()) {
    const isTree = names.some((name) => isBelow(name, root));
    const ran = await zfs.zfs('destroy', ...(isTree ? ['-r'] : []), root);
    if (!ran.ok) said ??= ran;
  }
  const [left] = (await zfs.properties(names, ['guid'])).keys();
  if (left !== undefined) throw refusal(`${left} was not removed`, said ?? NOTHING_SAID);
}

const NOTHING_SAID: Ran = { ok: true, stdout: '', stderr: '', why: 'zfs said nothing' };

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
    const ran = await zfs.zfs('destroy', name);
    const still = (await zfs.properties([name], ['guid', 'createtxg'])).get(name);
    if (identityOf(still) === identityOf(marks)) throw refusal(`${name} was not removed`, ran);
  }
}

function isBelow(snapshot: string, root: string): boolean {
  const end = root.slice(root.indexOf('@'));
  return snapshot !== root && snapshot.endsWith(end) && isWithin(datasetOf(snapshot), datasetOf(root));
}
