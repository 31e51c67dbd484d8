import { storageChanged, storageRefused, storageUnavailable, treeMissing } from '../../../../failures.ts';
import type { Dataset, Member, State } from '../../../../model/model.ts';
import type { Layout } from '../layout.ts';
import { identityOf } from '../states/save-record.ts';
import type { Tree } from '../tree.ts';
import { poolOf, type ZfsCommands } from '../zfs-commands.ts';

const IDENTITY = ['guid', 'createtxg'];

/**
 * Members that are there and can be removed, by the names they have now: promotion gives snapshots to other datasets.
 * @throws ABORTED when something else has the name of one; FAILED_PRECONDITION when somebody holds one; UNAVAILABLE when the
 * pool of one is not imported
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
  const missing = members.filter(({ snapshot }) => !there.has(snapshot));
  const imported = new Set((await zfs.pools()).map(({ name }) => name));
  const away = missing.find(({ dataset, snapshot }) =>
    [dataset, snapshot].some((name) => !imported.has(poolOf(name))),
  );
  if (away !== undefined) throw storageUnavailable(`the pool of ${away.snapshot} is not imported`);
  const moved = await findMoved(missing, await layout(), zfs);
  return members.flatMap((member) => (there.has(member.snapshot) ? member : (moved.get(member.guid) ?? [])));
}

/** Members by their guids, wherever in the pools a promotion took them. */
async function findMoved(
  missing: readonly Member[],
  { systems }: Layout,
  zfs: ZfsCommands,
): Promise<ReadonlyMap<string, Member>> {
  const ends = new Set(missing.map(({ snapshot }) => snapshot.slice(snapshot.indexOf('@'))));
  const possible = [...ends].flatMap((end) => systems.map(({ name }) => `${name}${end}`));
  const found = await zfs.properties(possible, IDENTITY);
  const names = new Map([...found].map(([name, properties]) => [identityOf(properties), name]));
  return new Map(
    missing.flatMap((member) => {
      const snapshot = names.get(member.guid);
      return snapshot === undefined ? [] : [[member.guid, { ...member, snapshot }] as const];
    }),
  );
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
