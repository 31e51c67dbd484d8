import { storageRefused, treeMissing } from '../../../failures.ts';
import type { Dataset, Member } from '../../../model/model.ts';
import type { Snapshot, SnapshotRequest } from '../storage.ts';
import { memberPath, STATES } from './layout.ts';
import type { LiveSubvolumes } from './live-subvolumes.ts';
import { NestedSubvolumes } from './nested-subvolumes.ts';
import type { Subvolumes } from './subvolumes.ts';

/** Takes the snapshots of a save, whose folder is there, and says what is in none of them. */
export async function takeSnapshots(
  { id, datasets, report }: SnapshotRequest,
  subvolumes: Subvolumes,
  live: LiveSubvolumes,
): Promise<Snapshot> {
  const sources = new Map<Dataset, string>();
  for (const dataset of datasets) {
    const source = await live.of(dataset);
    if (!(await subvolumes.isThere(source))) throw treeMissing(dataset.path, `${source} is no subvolume`);
    sources.set(dataset, source);
  }
  // Before, because looking waits for the disk while a snapshot is made.
  await reportNested(sources, new NestedSubvolumes(subvolumes), report);
  // At once, to be as near to one instant as there is; and each to its end, so that none comes after the undo.
  const made = await Promise.allSettled(
    [...sources].map(([{ name }, source]) =>
      subvolumes.snapshot(source, memberPath(id, name), { readOnly: true }),
    ),
  );
  for (const one of made) if (one.status === 'rejected') throw one.reason;
  const members = await membersOf(id, datasets, subvolumes);
  // Not even of one subvolume: what programs wrote and nobody synced may be in the snapshot or not, later writes before earlier.
  return { members, oneInstant: false };
}

async function reportNested(
  sources: ReadonlyMap<Dataset, string>,
  nested: NestedSubvolumes,
  report: (line: string) => void,
): Promise<void> {
  const found = await Promise.all(
    [...sources].map(async ([{ path }, source]) =>
      (await nested.of(source)).map((below) => `${path === '/' ? '' : path}/${below}`),
    ),
  );
  for (const path of found.flat()) report(`${path} is a subvolume of its own and was left out`);
}

/** What is there counts, and that nobody can write to it. */
async function membersOf(
  id: string,
  datasets: readonly Dataset[],
  subvolumes: Subvolumes,
): Promise<readonly Member[]> {
  const listed = await subvolumes.listIn(STATES, { readOnly: true });
  return datasets.map(({ name, role, user, path }) => {
    const snapshot = memberPath(id, name);
    const guid = listed.find((one) => one.path === snapshot)?.uuid;
    if (guid === undefined) throw storageRefused(`no snapshot of ${path} was made`, 'it is not there');
    const whose = user === undefined ? {} : { user };
    // What it holds is not counted: that would read all of it.
    const counts = { entries: 0, bytes: 0, unreadable: 0, torn: 0 };
    return { dataset: name, role, ...whose, path, guid, snapshot, ...counts };
  });
}
