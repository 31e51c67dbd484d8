import { contentDamaged, storageRefused } from '../../../failures.ts';
import type { Member, State } from '../../../model/model.ts';
import type { Received, ReceiveRequest, SendRequest, Transfer } from '../storage.ts';
import { receiveTrees, type TreePlaces } from '../transfer/receive-trees.ts';
import { sendSnapshots } from '../transfer/send-snapshots.ts';
import type { Layout } from './layout.ts';
import { ARCHIVE, ImportDatasets } from './states/import-datasets.ts';
import { importedNames } from './states/imported-names.ts';
import { chunksOf, identityOf, type Outline, snapshotName } from './states/save-record.ts';
import { showSnapshot } from './states/view-snapshot.ts';
import { poolOf, refusal, type ZfsCommands } from './zfs-commands.ts';

/** What the driver lends to whoever brings states in and out. */
interface Lent {
  readonly zfs: ZfsCommands;
  /** The daemon's own folder, where snapshots are looked into and datasets are filled. */
  readonly folder: string;
  readonly layout: () => Promise<Layout>;
}

/** States as archives. What comes in lies in datasets of its own, and is snapshotted when all of it is there. */
export class ZfsTransfer implements Transfer {
  readonly #driver: Lent;
  readonly #busy = new Set<string>();

  constructor(driver: Lent) {
    this.#driver = driver;
  }

  /** Ids of imports that are not complete and not given up: nothing of them is a leftover. */
  get busy(): ReadonlySet<string> {
    return this.#busy;
  }

  /** It is complete, or nothing comes of it. */
  forget(id: string): void {
    this.#busy.delete(id);
  }

  async *send(states: readonly State[], request: SendRequest): AsyncGenerator<Uint8Array> {
    const { zfs, folder, layout } = this.#driver;
    const show = async ({ snapshot, guid }: Member) => {
      const found = await zfs.properties([snapshot], ['guid', 'createtxg']);
      if (identityOf(found.get(snapshot)) !== guid) throw contentDamaged(`the snapshot ${snapshot}`);
      return showSnapshot(snapshot, await layout(), folder, zfs);
    };
    // What only holds others together was never mounted and has nothing in it.
    const placed = states.map((state) => ({
      ...state,
      members: state.members.filter(({ path }) => path.startsWith('/')),
    }));
    if (placed.some(({ members }) => members.length === 0))
      throw storageRefused('nothing was exported', 'no dataset of the state was mounted anywhere');
    yield* sendSnapshots('zfs', placed, show, request);
  }

  async receive(request: ReceiveRequest): Promise<Received> {
    const { zfs, folder, layout } = this.#driver;
    const { machines } = await layout();
    const current = machines.find(({ isCurrent }) => isCurrent);
    if (current === undefined) throw storageRefused('nothing was imported', 'the root is not on ZFS');
    const pool = poolOf(current.active.system.root.name);
    const datasets = await ImportDatasets.in(pool, request.id, folder, zfs);
    this.#busy.add(request.id);
    return await receiveTrees(request, this.#placesFor(request.id, pool, datasets));
  }

  /** All of it is where it belongs. */
  async place(): Promise<void> {}

  #placesFor(id: string, pool: string, datasets: ImportDatasets): TreePlaces {
    const { zfs, layout } = this.#driver;
    return {
      name: `the pool ${pool}`,
      sharesContent: false,
      async begin() {
        await datasets.begin();
        return await datasets.make(ARCHIVE);
      },
      make: (_member, at) => datasets.make(String(at)),
      async seal(received) {
        await datasets.destroy(ARCHIVE);
        const states = importedNames(received, await layout(), pool);
        const marks = marksOf(outlineOf(id, states));
        const snapshots: string[] = [];
        for (const at of states.flatMap(({ members }) => members).keys()) {
          const snapshot = `${await datasets.close(String(at))}@${snapshotName(id)}`;
          const ran = await zfs.zfs('snapshot', ...marks, snapshot);
          if ((await zfs.properties([snapshot], ['guid'])).size === 0)
            throw refusal(`the snapshot ${snapshot} was not made`, ran);
          snapshots.push(snapshot);
        }
        await datasets.removeFolders();
        const found = await zfs.properties(snapshots, ['guid', 'createtxg', 'referenced']);
        let at = 0;
        const here = (member: Member): Member => {
          const snapshot = snapshots[at++] as string;
          const properties = found.get(snapshot);
          const bytes = Number(properties?.get('referenced')?.value ?? 0);
          // As of any other snapshot, what it holds is not counted.
          return { ...member, snapshot, guid: identityOf(properties), bytes, entries: 0 };
        };
        return states.map((state) => ({ ...state, members: state.members.map(here) }));
      },
    };
  }
}

/** Each member is a tree of its own, so that a scan finds it where it lies now and not where its dataset does. */
function outlineOf(id: string, states: readonly State[]): Outline {
  const members = states.flatMap((state) => state.members);
  return {
    version: 1,
    id,
    trees: members.map(({ role, user, dataset }) => ({
      role,
      ...(user === undefined ? {} : { user }),
      root: dataset,
    })),
    datasets: members.map(({ path }, tree) => ({ tree, below: '', path, canmount: 'off' })),
  };
}

function marksOf(outline: Outline): readonly string[] {
  const chunks = chunksOf('croft:state', outline);
  if (chunks === undefined) throw storageRefused('nothing was imported', 'it has too many members for ZFS');
  return chunks.flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}
