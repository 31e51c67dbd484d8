import type { Dataset, Machine, Member, State } from '../../model/model.ts';
import type { Pool } from '../../rules/save-plan.ts';

/** What the storage holds. */
export interface Scan {
  readonly machines: readonly Machine[];
  /** States with their completion mark, newest first. */
  readonly states: readonly State[];
  /** Ids of states that were begun and not completed. */
  readonly leftovers: readonly string[];
}

/** What a snapshot of several datasets needs to know. */
export interface SnapshotRequest {
  /** Id of the state the snapshots are for. */
  readonly id: string;
  readonly datasets: readonly Dataset[];
  /** Bytes that may be written. */
  readonly budget: number;
  readonly signal: AbortSignal;
  /** A line for the caller, such as a file that could not be read. */
  readonly report: (line: string) => void;
}

/** What removing content freed. */
export interface Freed {
  readonly objects: number;
  readonly bytes: number;
}

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
  /** Takes the members of a state; it does not exist until `complete`. */
  snapshotGroup(request: SnapshotRequest): Promise<readonly Member[]>;
  /** The completion mark: from here on the state is there, whatever happens. */
  complete(state: State): Promise<void>;
  /** Undoes an uncompleted `snapshotGroup`; nothing happens if there is none. */
  discard(id: string): Promise<void>;
  /** Removes a state whose members still have the expected guids; nothing happens if it is gone already. */
  destroy(state: State): Promise<void>;
  /** Frees content that no state uses. */
  collect(): Promise<Freed>;
  /** Why the storage cannot be used now; undefined when it can. */
  trouble(): Promise<string | undefined>;
}
