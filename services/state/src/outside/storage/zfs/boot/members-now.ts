import { storageChanged, storageRefused, treeMissing } from '../../../../failures.ts';
import type { Dataset, Member, State } from '../../../../model/model.ts';
import type { Layout } from '../layout.ts';
import { identityOf } from '../states/save-record.ts';
import { scanStates } from '../states/scan-states.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';

const IDENTITY = ['guid', 'createtxg'];

/**
 * Members that are there and can be removed, by the names they have now: promotion gives snapshots to other datasets.
 * @throws ABORTED when something else has the name of one; FAILED_PRECONDITION when somebody holds one
 */
export async function membersNow(
  states: readonly State[],
  layout: () => Promise<Layout>,
  zfs: ZfsCommands,
): Promise<readonly Member[]> {
  const members = states.flatMap((state) => state.members);
  const names = members.map(({ snapshot }) => snapshot);
  const there = await zfs.properties(names, [...IDENTITY, 'userrefs']);
  const other = members.find(({ snapshot, guid }) => ![guid, ''].includes(identityOf(there.get(snapshot))));
  if (other !== undefined) throw storageChanged(`the snapshot ${other.snapshot}`);
  const held = names.find((name) => Number(there.get(name)?.get('userrefs')?.value ?? 0) > 0);
  if (held !== undefined)
    throw storageRefused(`${held} was not removed`, 'somebody holds it ("zfs release")');
  if (names.every((name) => there.has(name))) return members;
  const again = (await scanStates(await layout(), zfs)).states.flatMap((state) => state.members);
  const moved = again.filter(
    ({ guid, unreadable }) =>
      unreadable === 0 && members.some((member) => member.guid === guid && !there.has(member.snapshot)),
  );
  const found = await zfs.properties(
    moved.map(({ snapshot }) => snapshot),
    IDENTITY,
  );
  return [
    ...members.filter(({ snapshot }) => there.has(snapshot)),
    ...moved.filter(({ snapshot, guid }) => identityOf(found.get(snapshot)) === guid),
  ];
}

/** @throws ABORTED when the first snapshot of a state is not the one that was recorded */
export async function checkLeads(states: readonly State[], zfs: ZfsCommands): Promise<void> {
  const leads = states.flatMap(({ members }) => members.slice(0, 1));
  const found = await zfs.properties(
    leads.map(({ snapshot }) => snapshot),
    IDENTITY,
  );
  const other = leads.find(({ snapshot, guid }) => identityOf(found.get(snapshot)) !== guid);
  if (other !== undefined) throw storageChanged(`the snapshot ${other.snapshot}`);
}

/** The trees that hold datasets, whole: what is below a root is saved with it. */
export function treesFor(datasets: readonly Dataset[], { machines, homes }: Layout): readonly Tree[] {
  const names = new Set(datasets.map(({ name }) => name));
  const heads = machines.flatMap((machine) => machine.heads);
  const head = heads.find(({ system }) => names.has(system.root.name));
  const users = datasets.flatMap(({ user }) => user ?? []);
  const missing = users.find((user) => !homes.some((home) => home.user === user));
  if (missing !== undefined) throw treeMissing(`the home of ${missing}`, 'it is not there any more');
  return [
    ...(head === undefined ? [] : [head.system, ...head.boots]),
    ...homes.filter(({ user }) => users.includes(user)).flatMap(({ trees }) => trees),
  ];
}
