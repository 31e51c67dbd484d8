import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { Failure } from '@croft/failure';
import { storageRefused } from '../../../failures.ts';
import type { Dataset, Machine, Member, State } from '../../../model/model.ts';
import { diskFailure } from '../../../rules/machines/disk-failure.ts';
import type { Pool } from '../../../rules/states/save-plan.ts';
import { mountOf, readMounts } from '../../mounts.ts';
import type { RunProgram } from '../../programs.ts';
import { knownMachines } from '../known-machines.ts';
import type { EntryTree, Freed, MachineMarks, Scan, Snapshot, SnapshotRequest, Storage } from '../storage.ts';
import { errorCode } from '../vault/files.ts';
import { VaultMarks } from '../vault/vault-marks.ts';
import { walkedTree } from '../walked-tree.ts';
import { BtrfsHomes } from './btrfs-homes.ts';
import { BtrfsTransfer } from './btrfs-transfer.ts';
import { GoingBack } from './going-back.ts';
import { STATES } from './layout.ts';
import { LiveSubvolumes } from './live-subvolumes.ts';
import { StatesOnDisk } from './states-on-disk.ts';
import type { Subvolumes } from './subvolumes.ts';
import { areThere, listSnapshots, takeSnapshots } from './take-snapshots.ts';

/** What the driver is opened with. */
interface BtrfsOptions {
  readonly subvolumes: Subvolumes;
  /** The machine that runs. */
  readonly machine: Machine;
  /** The subvolume that is its system, and the folder of homes, from the top level on. */
  readonly system: string;
  readonly homes: string;
  readonly run: RunProgram;
  /** Takes lines for people when no caller waits. */
  readonly warn: (line: string) => void;
  /** Gives back what opening took. */
  readonly close: () => Promise<void>;
}

/** States as read-only snapshots of subvolumes. `docs/decisions/0017-btrfs-driver.md` says how and why. */
export class Btrfs implements Storage {
  readonly driver = 'btrfs';
  readonly location: string;
  readonly capabilities = { atomicGroup: false, needsRoot: true };
  readonly recommendedMinFree = 20;
  readonly homes: BtrfsHomes;
  readonly transfer: BtrfsTransfer;
  readonly #options: BtrfsOptions;
  readonly #subvolumes: Subvolumes;
  readonly #states: StatesOnDisk;
  readonly #marks: VaultMarks;
  readonly #live: LiveSubvolumes;
  readonly #goingBack: GoingBack;

  constructor(options: BtrfsOptions) {
    this.location = options.subvolumes.root;
    this.#options = options;
    this.#subvolumes = options.subvolumes;
    this.#states = new StatesOnDisk(this.#subvolumes);
    this.#marks = new VaultMarks(this.#subvolumes.at(STATES));
    this.homes = new BtrfsHomes(this.#subvolumes, options.homes);
    this.#live = new LiveSubvolumes(options.system, this.homes);
    this.#goingBack = new GoingBack(this.#subvolumes, this.#live, options.run, options.warn);
    this.transfer = new BtrfsTransfer({
      name: this.#poolName,
      subvolumes: this.#subvolumes,
      states: this.#states,
      check: (member) => this.#goingBack.check(member),
    });
  }

  async scan({ alone } = { alone: false }): Promise<Scan> {
    // A subvolume that a writer is about to use looks like one that nobody needs.
    if (alone) await this.#goingBack.settle();
    const { states, leftovers } = await this.#states.scan();
    if (alone) await this.#goingBack.keep(new Set(states.map(({ id }) => id)));
    return {
      machines: knownMachines(this.#options.machine, states, await this.#marks.read()),
      homes: await (alone ? this.homes.reread() : this.homes.list()),
      states,
      leftovers,
    };
  }

  /** As `df` tells it: by the profile of the data, and nothing when there is no room for metadata, which snapshots are. */
  async space(): Promise<readonly Pool[]> {
    const { bsize, blocks, bavail } = await statfs(this.location);
    return [{ name: this.#poolName, size: bsize * blocks, free: bsize * bavail }];
  }

  async snapshotGroup(request: SnapshotRequest): Promise<Snapshot> {
    return await this.#explained(async () => {
      request.signal.throwIfAborted();
      await this.#states.begin(request.id);
      return await takeSnapshots(request, this.#subvolumes, this.#live, this.#states.known);
    });
  }

  async complete(states: readonly State[]): Promise<void> {
    await this.#explained(() => this.#states.complete(states));
  }

  /** The snapshots are on the disk when they are there, and with them a file that was flushed before: only the names of records may not. */
  async lasting(): Promise<void> {
    await this.#explained(() => this.#states.sync());
  }

  async recover(id: string, datasets: readonly Dataset[]): Promise<Snapshot | undefined> {
    return await this.#explained(async () => {
      if (this.#states.isRecorded(id) || !(await areThere(id, datasets, this.#subvolumes))) return undefined;
      // Until it is completed nobody takes it for a leftover.
      this.#states.resume(id);
      return await listSnapshots(id, datasets, this.#subvolumes);
    });
  }

  async discard(id: string): Promise<void> {
    await this.#states.discard(id);
  }

  async destroy(states: readonly State[]): Promise<void> {
    await this.#explained(() => this.#states.destroy(states));
    await this.#goingBack.forget(states);
  }

  async annotate(states: readonly State[]): Promise<void> {
    await this.#explained(() => this.#states.annotate(states));
  }

  async markMachine(id: string, marks: MachineMarks): Promise<void> {
    await this.#explained(() => this.#marks.write(id, marks));
  }

  async savedTree(member: Member): Promise<EntryTree> {
    await this.#goingBack.check(member);
    return walkedTree(latin1(this.#subvolumes.at(member.snapshot)));
  }

  async liveTree(dataset: Dataset): Promise<EntryTree> {
    return walkedTree(latin1(this.#subvolumes.at(await this.#live.of(dataset))));
  }

  async revert(wanted: readonly Member[], present: readonly Member[]): Promise<readonly string[]> {
    const { prepared } = (await this.#marks.read())[this.#options.machine.id] ?? {};
    const key = prepared === undefined ? randomUUID() : `${prepared.boot} ${prepared.state}`;
    return await this.#explained(() => this.#goingBack.revert(wanted, present, key));
  }

  async bootWords(state: State, warn: (line: string) => void): Promise<readonly string[]> {
    return await this.#explained(() => this.#goingBack.bootWords(state, warn));
  }

  async collect(): Promise<Freed> {
    const objects = await this.#explained(() => this.#states.collect());
    return { objects, bytes: 0 };
  }

  async awaitFreed(): Promise<boolean> {
    return await this.#subvolumes.awaitCleaner();
  }

  async trouble(): Promise<string | undefined> {
    try {
      const shown = mountOf(await readMounts(), this.location);
      if (shown?.path !== this.location || shown.type !== 'btrfs')
        return `the top level of the file system is no longer mounted at ${this.location}`;
      if (shown.readOnly) return 'the file system is read-only';
      return (await this.#subvolumes.isThere(STATES)) ? this.#goingBack.trouble : `${STATES} is not there`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async close(): Promise<void> {
    await this.#options.close();
  }

  /** What the system says of itself, for people. */
  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const failure = diskFailure(error, this.#poolName);
      if (failure instanceof Failure || errorCode(error) === undefined) throw failure;
      throw storageRefused(`${this.#poolName} did not take it`, (error as Error).message);
    }
  }

  get #poolName(): string {
    return `the btrfs at ${this.location}`;
  }
}

function latin1(path: string): string {
  return Buffer.from(path).toString('latin1');
}
