import type { Dataset, Home, Machine, Member, State } from '../../model/model.ts';
import type { Pool } from '../../rules/save-plan.ts';

/** What the storage holds. */
export interface Scan {
  readonly machines: readonly Machine[];
  readonly homes: readonly Home[];
  /** States of saves with their completion mark, newest first. */
  readonly states: readonly State[];
  /** Ids of saves that were begun and not completed. */
  readonly leftovers: readonly string[];
}

/** What a snapshot of several datasets needs to know. */
export interface SnapshotRequest {
  /** Id of the save the snapshots are for. */
  readonly id: string;
  readonly datasets: readonly Dataset[];
  /** Bytes that may be written. */
  readonly budget: number;
  readonly signal: AbortSignal;
  /** A line for the caller, such as a file that could not be read. */
  readonly report: (line: string) => void;
}

/** The members of a save, before it is complete. */
export interface Snapshot {
  readonly members: readonly Member[];
  /** All of them are one instant. */
  readonly oneInstant: boolean;
}

/** What removing content freed. */
export interface Freed {
  readonly objects: number;
  readonly bytes: number;
}

/** What is stored with a machine and changes while it runs. */
export type MachineMarks = Partial<Pick<Machine, 'kernel' | 'lastUsedAt' | 'nextState' | 'prepared'>>;

/** What a driver can and cannot do, for planning and for people. */
interface Capabilities {
  /** All members of a state are one instant. */
  readonly atomicGroup: boolean;
  readonly needsRoot: boolean;
}

/** A place where states are kept. One writer at a time per machine is the caller's business; content is the driver's. */
export interface Storage {
  readonly driver: 'vault' | 'zfs' | 'btrfs';
  /** Where it is, for people and for `croft state restore`. */
  readonly location: string;
  readonly capabilities: Capabilities;
  /** Percent that stays free unless the operator says otherwise. */
  readonly recommendedMinFree: number;
  scan(): Promise<Scan>;
  space(): Promise<readonly Pool[]>;
  /** Takes the members of a save; its states do not exist until `complete`. */
  snapshotGroup(request: SnapshotRequest): Promise<Snapshot>;
  /** The completion mark of a save: from here on its states are there, all of them, whatever happens. */
  complete(states: readonly State[]): Promise<void>;
  /** Undoes an uncompleted save; nothing happens if there is none. */
  discard(id: string): Promise<void>;
  /**
   * Removes states of one save whose members still have the expected guids, all or none; nothing happens to those that are
   * gone already.
   */
  destroy(states: readonly State[]): Promise<void>;
  /** Writes down facts of a machine. */
  markMachine(id: string, marks: MachineMarks): Promise<void>;
  readonly homes: Homes;
  /**
   * Makes datasets what they were in a state, in place. Doing it again after an interruption finishes it.
   * @param wanted members of a state
   * @param present members of a snapshot of the same datasets as they are now
   * @returns what is not as it was, one line each
   */
  revert(wanted: readonly Member[], present: readonly Member[]): Promise<readonly string[]>;
  /** Frees content that no state uses. */
  collect(): Promise<Freed>;
  /** Why the storage cannot be used now; undefined when it can. */
  trouble(): Promise<string | undefined>;
}

/** Homes of users. Each call happens as a whole or not at all, also in a crash. */
export interface Homes {
  list(): Promise<readonly Home[]>;
  /**
   * Makes a home and links it to a machine.
   * @throws FAILED_PRECONDITION when what is there cannot become one
   */
  create(home: Home): Promise<void>;
  /** Moves a home with its content, owner and mode. @throws FAILED_PRECONDITION */
  move(home: Home, path: string): Promise<void>;
  /** Puts a home at a path where something may lie already; where the storage can, that becomes the home. */
  retarget(home: Home, path: string): Promise<void>;
  /** Says to which machines a home belongs. */
  link(home: Home, machines: readonly string[]): Promise<void>;
  /** Deletes what is in a home, never through a link or into another file system. @returns what is left, one line each */
  empty(home: Home): Promise<readonly string[]>;
}
