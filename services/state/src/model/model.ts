/** What part of a machine a dataset is. */
type Role = 'system' | 'boot' | 'user';

/** One unit of storage that is saved and brought back as a whole. */
export interface Dataset {
  /** Name in its machine, such as `system`. */
  readonly name: string;
  readonly role: Role;
  /** Where it lies, as path text (see the vault's `path-text.ts`). */
  readonly path: string;
}

/** A bootable system on this host: a root dataset and what belongs to it. */
export interface Machine {
  readonly id: string;
  /** We keep its states. */
  readonly managed: boolean;
  /** It is the one that runs. */
  readonly current: boolean;
  /** Id of the saved state it was booted from, if any. */
  readonly bootedState: string | undefined;
  readonly datasets: readonly Dataset[];
}

/** One dataset's part of a state. */
export interface Member {
  readonly dataset: string;
  readonly role: Role;
  readonly path: string;
  /** Identity of the snapshot; names may be given again, this never. */
  readonly guid: string;
  /** How the driver finds the content; on the vault the SHA-256 of the manifest. */
  readonly snapshot: string;
  readonly entries: number;
  readonly bytes: number;
  /** Entries whose content could not be read. */
  readonly unreadable: number;
  /** Entries that changed while they were read. */
  readonly torn: number;
}

/** A saved instant of a machine. */
export interface State {
  readonly id: string;
  readonly machine: string;
  readonly name: string;
  /** Made by autosave or without a name: garbage collection may take it. A stored fact, not the prefix. */
  readonly automatic: boolean;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly members: readonly Member[];
}

/** Everything the daemon knows; never changed in place, so a request reads one instant of it. */
export interface Model {
  /** Current first, then by id. */
  readonly machines: readonly Machine[];
  /** Newest first. */
  readonly states: readonly State[];
  /** Ids of states whose removal has begun. */
  readonly removing: ReadonlySet<string>;
}

/** Something of the state is not in it: unreadable or torn entries. */
export function isPartial(state: State): boolean {
  return state.members.some((member) => member.unreadable > 0 || member.torn > 0);
}

/** The name that is unique on this host and shows the machine: `vault:/etc@before-upgrade`. */
export function storageName(state: State): string {
  return `${state.machine}@${state.name}`;
}
