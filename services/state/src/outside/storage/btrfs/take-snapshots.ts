import { storageRefused, treeMissing } from '../../../failures.ts';
import type { Dataset, Member } from '../../../model/model.ts';
import type { Snapshot, SnapshotRequest } from '../storage.ts';
import { reportSome } from '../transfer/report-some.ts';
import type { KnownSnapshots } from './known-snapshots.ts';
import { memberPath, STATES } from './layout.ts';
import type { LiveSubvolumes } from './live-subvolumes.ts';
import { NestedSubvolumes } from './nested-subvolumes.ts';
import type { ListedSubvolume } from './subvolume-text.ts';
import type { Subvolumes } from './subvolumes.ts';

/** Takes the snapshots of a save, whose folder is there, and says what is in none of them. */
export async function takeSnapshots(
  { id, datasets, report }: SnapshotRequest,
  subvolumes: Subvolumes,
  live: LiveSubvolumes,
  known: KnownSnapshots,
): Promise<Snapshot> {
  const sources = new Map<Dataset, string>();
  for (const dataset of datasets) {
    const source = await live.of(dataset);
    if (!(await subvolumes.isThere(source))) throw treeMissing(dataset.path, `${source} is no subvolume`);
    sources.set(dataset, source);
  }
  // At once, to be as near to one instant as there is; and each to its end, so that none comes after the undo.
  const making = await Promise.allSettled(
    [...sources].map(async ([{ name, path }, source]) => {
      const snapshot = memberPath(id, name);
      return { path, source, snapshot, ...(await subvolumes.snapshot(source, snapshot)) };
    }),
  );
  const made = making.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  // What the kernel did not tell. One list for all: each is a program that reads the tree of all subvolumes.
  const isListed = made.some(({ uuid, isAlone }) => uuid === undefined || isAlone !== true);
  const listed = isListed ? ((await subvolumes.listAll()) ?? (await subvolumes.listIn(STATES))) : [];
  const found = uuidsIn(listed);
  const uuids = new Map(
    made.flatMap(({ snapshot, uuid = found.get(snapshot) }) =>
      uuid === undefined ? [] : [[snapshot, uuid]],
    ),
  );
  await known.add(uuids);
  for (const { path, source, isAlone } of made) {
    const nested = isAlone ? [] : await nestedIn(source, listed, subvolumes).catch(() => undefined);
    if (nested === undefined) report(`subvolumes in ${path} could not be listed and were left out`);
    const lines = (nested ?? []).map((below) => `${below} is a subvolume of its own and was left out`);
    reportSome(lines, { path }, report);
  }
  const members = await membersOf(id, datasets, uuids, subvolumes);
  // Not even of one subvolume: what programs wrote and nobody synced may be in the snapshot or not, later writes before earlier.
  return { members, oneInstant: false };
}

/** Whether all snapshots of a save that was cut off are there. */
export async function areThere(
  id: string,
  datasets: readonly Dataset[],
  subvolumes: Subvolumes,
): Promise<boolean> {
  for (const path of datasets.map(({ name }) => memberPath(id, name)))
    if (!(await subvolumes.isThere(path)) || !(await subvolumes.isReadOnly(path))) return false;
  return true;
}

/** The same as members of a state. */
export async function listSnapshots(
  id: string,
  datasets: readonly Dataset[],
  subvolumes: Subvolumes,
): Promise<Snapshot> {
  const uuids = uuidsIn(await subvolumes.listIn(STATES));
  const members = await membersOf(id, datasets, uuids, subvolumes);
  return { members, oneInstant: false };
}

/** Paths below it of those that lie in it. */
async function nestedIn(
  path: string,
  listed: readonly ListedSubvolume[],
  subvolumes: Subvolumes,
): Promise<readonly string[]> {
  const [own, ...others] = listed.filter((one) => one.path === path);
  // A second line with its path is one that somebody wrote into the list: which one is it, only the kernel knows.
  if (own === undefined || others.length > 0) return await new NestedSubvolumes(subvolumes).of(path);
  const nested = listed.filter((one) => one.parentId === own.id && one.path.startsWith(`${path}/`));
  return nested.map((one) => one.path.slice(path.length + 1));
}

/** By path, of those that have one line: a second one with its path is one that somebody wrote into the list. */
function uuidsIn(listed: readonly ListedSubvolume[]): ReadonlyMap<string, string> {
  const uuids = new Map<string, string>();
  const twice = new Set<string>();
  for (const { path, uuid } of listed) {
    if (uuids.has(path)) twice.add(path);
    uuids.set(path, uuid);
  }
  for (const path of twice) uuids.delete(path);
  return uuids;
}

/** What is there counts, and that nobody can write to it. */
async function membersOf(
  id: string,
  datasets: readonly Dataset[],
  uuids: ReadonlyMap<string, string>,
  subvolumes: Subvolumes,
): Promise<readonly Member[]> {
  const members: Member[] = [];
  for (const { name, role, user, path } of datasets) {
    const snapshot = memberPath(id, name);
    const guid = uuids.get(snapshot);
    if (guid === undefined || !(await subvolumes.isReadOnly(snapshot)))
      throw storageRefused(`no snapshot of ${path} was made`, 'it is not there');
    const whose = user === undefined ? {} : { user };
    // What it holds is not counted: that would read all of it.
    const counts = { entries: 0, bytes: 0, unreadable: 0, torn: 0 };
    members.push({ dataset: name, role, ...whose, path, guid, snapshot, ...counts });
  }
  return members;
}
