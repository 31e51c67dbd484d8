import type { Entry } from '../../model/entry.ts';
import type { Dataset, Home, Machine, Member, State } from '../../model/model.ts';
import type { Pool } from '../../rules/states/save-plan.ts';
import type { Account } from '../identity/accounts.ts';

/** What the storage holds. */
export interface Scan {
  readonly machines: readonly Machine[];
  readonly homes: readonly Home[];
  /** States of saves with their completion mark, newest first. */
  readonly states: readonly State[];
  /** Ids of saves that were begun and not completed. */
  readonly leftovers: readonly string[];
  /** Saves that are neither, which stay as they are. */
  readonly kept?: readonly KeptSave[];
  /** What else was left alone because it may be needed, one line each. */
  readonly notes?: readonly string[];
}

/** A save that cannot be read, of which nobody can say that it is not needed. */
export interface KeptSave {
  readonly id: string;
  /** For people. */
  readonly why: string;
  /** It has no completion mark, only parts of one: where the journal says that it was begun, it is a leftover after all. */
  readonly isUnmarked: boolean;
}

/** What a snapshot of several datasets needs to know. */
export interface SnapshotRequest {
  /** Id of the save the snapshots are for. */
  readonly id: string;
  /** The states' name, where they will be states: for people who look into the storage. */
  readonly name?: string;
  readonly datasets: readonly Dataset[];
  /** Bytes that may be written. */
  readonly budget: number;
  /** As that of a {@link ReceiveRequest}; missing when nothing is kept free. */
  readonly checkSpace?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  /** A line for the caller, such as a file that could not be read. */
  readonly report: (line: string) => void;
  /** How far it is, a few times a second at most and only where it takes long; missing when nobody looks. */
  readonly progress?: ((line: string) => void) | undefined;
}

/** The members of a save, before it is complete. */
export interface Snapshot {
  readonly members: readonly Member[];
  /** All of them are one instant. */
  readonly oneInstant: boolean;
}

/** Something that was made from a state and keeps it from being removed. */
export interface Dependant {
  /** As the storage calls it. */
  readonly name: string;
  readonly guid: string;
  readonly kind: 'clone' | 'dataset' | 'snapshot';
  /** It runs, or is somebody's home: it does not go, not even by force. */
  readonly inUse: boolean;
  /** Somebody may work in it, so it goes only while whoever wants that is there. */
  readonly isMounted: boolean;
}

/** What a machine has that is not ours yet, and was another manager's. */
export interface Adoption {
  /** The machine is not managed so far. */
  readonly isNew: boolean;
  readonly homes: readonly (Pick<Home, 'user' | 'path'> & { readonly dataset: string })[];
  /** As they will be, newest first; users' states follow the system's that they were saved with. */
  readonly states: readonly State[];
  /** How many saves cannot become ours, because there is no room for what has to be written down of them. */
  readonly left: number;
  /** Writes all that down. What it is stays as it is, so doing it again after an interruption finishes it. */
  adopt(): Promise<void>;
}

/** What removing content freed. */
export interface Freed {
  readonly objects: number;
  readonly bytes: number;
}

/** What is stored with a machine and changes while it runs. */
export type MachineMarks = Partial<
  Pick<Machine, 'kernel' | 'lastUsedAt' | 'nextState' | 'nextRevert' | 'prepared'>
>;

/** What a driver can and cannot do, for planning and for people. */
interface Capabilities {
  /** All members of a state are one instant. */
  readonly atomicGroup: boolean;
  readonly needsRoot: boolean;
}

/** States, and what the stamp of the storage was when it had these. */
export interface Stamped {
  readonly stamp: string;
  readonly states: readonly State[];
}

/** How a storage is looked through. */
export interface ScanOptions {
  /** Nobody writes, so what was interrupted is finished and what nobody needs is cleared away. */
  readonly alone: boolean;
  /** What need not be read where the stamp is still that. */
  readonly remembered?: Stamped | undefined;
}

/** A place where states are kept. One writer at a time per machine is the caller's business; content is the driver's. */
export interface Storage {
  readonly driver: 'vault' | 'zfs' | 'btrfs';
  /** Where it is, for people and for `croft state restore`. */
  readonly location: string;
  readonly capabilities: Capabilities;
  /** Percent that stays free unless the operator says otherwise. */
  readonly recommendedMinFree: number;
  scan(options?: ScanOptions): Promise<Scan>;
  /**
   * For drivers that take long to read states: what is another whenever some came, went or were annotated, whoever did it. Only while
   * nobody writes; undefined when it is not certain that the states are those that were scanned alone and what was written since.
   */
  stamp?(): Promise<string | undefined>;
  space(): Promise<readonly Pool[]>;
  /** Takes the members of a save; its states do not exist until `complete`. */
  snapshotGroup(request: SnapshotRequest): Promise<Snapshot>;
  /** The completion mark of a save: from here on its states are there, all of them, whatever happens; see {@link lasting}. */
  complete(states: readonly State[]): Promise<void>;
  /**
   * Waits until no power cut undoes what was completed and destroyed so far. Without it that is so when they return; with it a
   * begun save is not forgotten before, as `recover` and another `complete` put it right, nor a begun removal.
   */
  lasting?(): Promise<void>;
  /** The members of a save without a completion mark, when all of them are there: from now on they are no leftover. */
  recover?(id: string, datasets: readonly Dataset[]): Promise<Snapshot | undefined>;
  /** Undoes an uncompleted save; nothing happens if there is none. */
  discard(id: string): Promise<void>;
  /** Has a save that lost its mark told as `kept` from now on, where the driver can do that. */
  keep?(id: string): Promise<void>;
  /**
   * Removes states of one save whose members still have the expected guids, all or none; nothing happens to those that are
   * gone already.
   */
  destroy(states: readonly State[]): Promise<void>;
  /**
   * What was made from states and from what was made from them, in the order in which it can go when saves go as a whole; none
   * where nothing can be.
   */
  dependants?(states: readonly State[]): Promise<readonly Dependant[]>;
  /**
   * Destroys such things, in their order, as long as they are what was found.
   * @throws ABORTED, FAILED_PRECONDITION; `removal_unfinished` when it is not known whether one is there
   */
  release?(dependants: readonly Dependant[]): Promise<void>;
  /**
   * Writes down `pinned` and `description` of states of one save, all or none. What they hold stays as it is.
   * @throws ABORTED when they are not what is stored
   */
  annotate(states: readonly State[]): Promise<void>;
  /** What a member of a state holds, to be looked through. @throws FAILED_PRECONDITION when it is not there */
  savedTree(member: Member): Promise<EntryTree>;
  /** What a dataset holds now, without what a save of it leaves out. */
  liveTree(dataset: Dataset): Promise<EntryTree>;
  /** Taking states out of the storage and in again. */
  readonly transfer: Transfer;
  /** What is to be taken over of a machine, where another manager may have kept it; nothing is written. */
  findAdoption?(machine: string): Promise<Adoption>;
  /** Writes down facts of a machine. */
  markMachine(id: string, marks: MachineMarks): Promise<void>;
  readonly homes: Homes;
  /**
   * Makes datasets what they were in a state, in place. Doing it again after an interruption finishes it.
   * @param wanted members of a state
   * @param present members of a snapshot of the same datasets as they are now
   * @param progress as that of a {@link SnapshotRequest}
   * @returns what is not as it was, one line each
   */
  revert(
    wanted: readonly Member[],
    present: readonly Member[],
    progress?: SnapshotRequest['progress'],
  ): Promise<readonly string[]>;
  /**
   * Makes what is mounted agree with what was booted, where that is not simply what is there.
   * @returns whether anything was switched
   * @throws FAILED_PRECONDITION when all is done that could be, and something is not mounted where it is to be
   */
  settleBoot?(): Promise<boolean>;
  /**
   * The boot was good, so what it runs is what the machine is from now on. Snapshots may have other names afterwards.
   * @returns whether anything was done
   * @throws FAILED_PRECONDITION before anything is done
   */
  commitBoot?(machine: string): Promise<boolean>;
  /** Words for the kernel that boot a state, and make it bootable; without it `statesvc.state=<id>`. */
  bootWords?(state: State, warn: (line: string) => void): readonly string[] | Promise<readonly string[]>;
  /** @throws ABORTED when what `bootWords` name is not there any more */
  checkBootable?(state: State): Promise<void>;
  /** Frees content that no state uses. */
  collect(): Promise<Freed>;
  /**
   * Waits for a while until what was removed is free space, where that comes later than its removal.
   * @returns whether all of it is
   */
  awaitFreed?(): Promise<boolean>;
  /** Why the storage cannot be used now; undefined when it can. */
  trouble(): Promise<string | undefined>;
  /** Gives back what opening it took, such as a mount. Nothing is asked of it afterwards. */
  close?(): Promise<void>;
}

/** The entries of a dataset, saved or live. `walkedTree` makes one of any folder. */
export interface EntryTree {
  /**
   * Every entry, in the order of `comparePaths`, some at a time; what it holds open is closed when its reader stops, early
   * or not.
   */
  entries(signal: AbortSignal): AsyncIterable<readonly Entry[]>;
  /** SHA-256 of a file, asked for while its neighbours are read; undefined when it cannot be read. */
  hash(entry: Entry, signal: AbortSignal): Promise<string | undefined>;
}

/** An import as the driver sees it. */
export interface ReceiveRequest {
  /** Id of the save that the states will be of. */
  readonly id: string;
  /** What `send` gave, in pieces of any size. Nobody vouches for it. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Is told what comes, before its content does, and throws what speaks against it. */
  readonly check: (states: readonly State[]) => void;
  /** Bytes that may be written. */
  readonly budget: number;
  /** Asks, now and then, whether that still is so: others write meanwhile. @throws RESOURCE_EXHAUSTED */
  readonly checkSpace: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
}

/** An export as the driver sees it. */
export interface SendRequest {
  readonly signal: AbortSignal;
  /** A line for the caller, such as a file that could not be read. */
  readonly report: (line: string) => void;
}

/** What came in. */
export interface Received {
  /** The storage that it was exported from. */
  readonly driver: string;
  /** The states as they were sent, the members as they are here. */
  readonly states: readonly State[];
}

/** States that leave the storage and come back, into this one or any other: all drivers speak of them in the same way. */
export interface Transfer {
  /** States of one save with all they hold; the same states give the same bytes. */
  send(states: readonly State[], request: SendRequest): AsyncIterable<Uint8Array>;
  /**
   * Takes in what `send` gave, and checks all of it. It may take as long as the sender likes, so nobody waits for it: until
   * `place` it lies beside the states, `discard` removes it, and a scan at start calls it a leftover. Only names, numbers and
   * texts of states are checked by the caller.
   * @throws INVALID_ARGUMENT, RESOURCE_EXHAUSTED
   */
  receive(request: ReceiveRequest): Promise<Received>;
  /** Puts what was received where `complete` expects it. */
  place(id: string): Promise<void>;
}

/** Homes of users. Each call happens as a whole or not at all, also in a crash. */
export interface Homes {
  list(): Promise<readonly Home[]>;
  /**
   * Makes a home, or takes what lies there, and links it to machines.
   * @param owner whose a home that is made will be; the daemon's without one
   * @throws FAILED_PRECONDITION when what is there cannot become one
   */
  create(home: Home, owner: Account | undefined): Promise<void>;
  /** Moves a home with its content, owner and mode. @throws FAILED_PRECONDITION */
  move(home: Home, path: string): Promise<void>;
  /**
   * Puts a home at a path where something may lie already; where the storage can, that becomes the home.
   * @param machines to which it belongs when it is there; a storage that cannot do both at once leaves that to `link`
   * @param owner as for `create`, where nothing is left of the home
   */
  retarget(home: Home, path: string, machines: readonly string[], owner: Account | undefined): Promise<void>;
  /**
   * Says to which machines a home belongs.
   * @param emptying `empty` follows: a home that is listed with this mark was not emptied to its end
   */
  link(home: Home, machines: readonly string[], emptying?: boolean): Promise<void>;
  /**
   * Deletes what is in a home, never through a link or into another file system, and takes the mark off.
   * @returns what is left, one line each
   */
  empty(home: Home): Promise<readonly string[]>;
}
