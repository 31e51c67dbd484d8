import type { Member, State } from '../../../model/model.ts';
import { syncFileSystem } from '../../sync-file-system.ts';
import type { Received, ReceiveRequest, SendRequest, Transfer } from '../storage.ts';
import { receiveTrees, type TreePlaces } from '../transfer/receive-trees.ts';
import { sendSnapshots } from '../transfer/send-snapshots.ts';
import { memberPath } from './layout.ts';
import type { StatesOnDisk } from './states-on-disk.ts';
import type { Subvolumes } from './subvolumes.ts';

/** What came in, beside its members, until they are made. No member has a name that ends so. */
const RECEIVED = 'received.archive';

/** What the driver lends to whoever brings states in and out. */
interface Lent {
  /** The storage, for people. */
  readonly name: string;
  readonly subvolumes: Subvolumes;
  readonly states: StatesOnDisk;
  /** @throws FAILED_PRECONDITION when what was saved is not what is there */
  readonly check: (member: Member) => Promise<void>;
}

/** States as archives. What comes in lies in the folder of its save, in subvolumes, which is where a crash leaves a save. */
export class BtrfsTransfer implements Transfer {
  readonly #btrfs: Lent;

  constructor(btrfs: Lent) {
    this.#btrfs = btrfs;
  }

  send(states: readonly State[], request: SendRequest): AsyncIterable<Uint8Array> {
    const { subvolumes, check } = this.#btrfs;
    const show = async (member: Member) => {
      await check(member);
      return { path: subvolumes.at(member.snapshot), close: async () => {} };
    };
    return sendSnapshots('btrfs', states, show, request);
  }

  receive(request: ReceiveRequest): Promise<Received> {
    return receiveTrees(request, this.#placesFor(request.id));
  }

  /** All of it is where it belongs. */
  async place(): Promise<void> {}

  #placesFor(id: string): TreePlaces {
    const { name, subvolumes, states } = this.#btrfs;
    const archive = memberPath(id, RECEIVED);
    const made: string[] = [];
    return {
      name,
      sharesContent: true,
      async begin() {
        await states.begin(id);
        await subvolumes.create(archive);
        return subvolumes.at(archive);
      },
      async make({ dataset }, at) {
        const path = memberPath(id, /^[\w-]{1,100}$/.test(dataset) ? dataset : `member-${at}`);
        await subvolumes.create(path);
        made.push(path);
        return subvolumes.at(path);
      },
      async seal(received) {
        await subvolumes.delete([archive]);
        for (const path of made) await subvolumes.makeReadOnly(path);
        if (!(await syncFileSystem(subvolumes.root))) await subvolumes.sync();
        const uuids = await states.uuidsOf(made);
        let at = 0;
        const here = (member: Member): Member => {
          const [snapshot, guid] = [made[at] as string, uuids[at] as string];
          at++;
          return { ...member, snapshot, guid };
        };
        return received.map((state) => ({ ...state, members: state.members.map(here) }));
      },
    };
  }
}
