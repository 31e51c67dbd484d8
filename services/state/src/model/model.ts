/** What part of a machine a dataset is. */
type Role = 'system' | 'boot' | 'user';

/** One unit of storage that is saved and brought back as a whole. */
export interface Dataset {
  /** Name in its machine, such as `system`. */
  readonly name: string;
  readonly role: Role;
  /** Whose home it is; homes only. */
  readonly user?: string;
  /** Where it lies, as path text (see `path-text.ts`). */
  readonly path: string;
  /** Other datasets may be mounted in it, and are no part of it. */
  readonly holdsMounts?: true;
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
  /**
   * Only where a machine goes back to a state by being booted from it: the state that this boot names, whether it is there or
   * not; null when it names none.
   */
  readonly revertTo?: string | null;
  /** Id of the state that the next boot goes back to, if somebody asked for that. */
  readonly nextState: string | undefined;
  /** How it was asked for. */
  readonly nextRevert?: NextRevert | undefined;
  /** How far the way back to a state is, that a boot named. */
  readonly prepared: Preparation | undefined;
  /** Its system; homes stand on their own, see {@link datasetsOf}. */
  readonly datasets: readonly Dataset[];
  /** What ran before this boot, where that is something else and the boot goes back to a state. */
  readonly before?: readonly Dataset[];
  /** The storage knows it without states, too. */
  readonly lasting?: true;
  /** Its system is nowhere here, for good or for a while: what is left of it goes only when somebody asks for that. */
  readonly away?: true;
  /** The kernel of its last good boot; empty when none is known. */
  readonly kernel: string;
  /** Last good boot or shutdown, RFC 3339 in UTC; undefined when none is known. */
  readonly lastUsedAt: string | undefined;
}

/** Somebody asked that the next boot goes back to a state. */
export interface NextRevert {
  /** Homes, too. */
  readonly users: boolean;
  /** The kernel's id of the boot in which that was asked: another one is the next. */
  readonly askedIn: string;
  /** The boot loaders that are to start it, by name, where another root has to run. */
  readonly loaders?: readonly string[];
}

/** A boot goes back to a state. */
export interface Preparation {
  /** The kernel's id of the boot. */
  readonly boot: string;
  /** Id of the state. */
  readonly state: string;
  /** Name of the state that holds what was there before. */
  readonly saved: string;
  /** Homes, too. */
  readonly users: boolean;
  /** Everything is as it was in the state. */
  readonly done: boolean;
  /** The boot was good; it stays written down, so that this boot does not go back twice. */
  readonly committed: boolean;
}

/** A user's home: saved with every machine it is linked to. */
export interface Home {
  readonly user: string;
  /** Where it lies, as path text. */
  readonly path: string;
  /** Ids of the machines it belongs to; with none it is kept, and no longer saved. */
  readonly machines: readonly string[];
  /** What is in it is being deleted, and that was interrupted. */
  readonly emptying?: true;
  /** What it consists of, where the storage has names of its own for that. */
  readonly datasets?: readonly Dataset[];
}

/** One dataset's part of a state. */
export interface Member {
  readonly dataset: string;
  readonly role: Role;
  readonly user?: string;
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

/** A saved instant of a machine's system, or of one user's home. */
export interface State {
  readonly id: string;
  readonly kind: 'system' | 'user';
  readonly machine: string;
  /** Whose home it is of; user states only. */
  readonly user?: string;
  /** Id of the system state that a user state was saved with, if it was: it goes when that goes. */
  readonly system?: string;
  readonly name: string;
  /** Made by autosave or without a name: garbage collection may take it. A stored fact, not the prefix. */
  readonly automatic: boolean;
  /** Garbage collection leaves it alone, and removal asks for `force`. */
  readonly pinned: boolean;
  /** What a person wrote about it; may be empty. */
  readonly description: string;
  /** The kernel that the machine ran; empty when it was not known. */
  readonly kernel: string;
  /** The storage vouches that all members are one instant. */
  readonly oneInstant: boolean;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  /** Id of the state that was the newest of its series when it was saved, where the clock was behind that one's time: one of both is wrong. */
  readonly after?: string;
  /** Where it came from, if it was not saved here. */
  readonly imported?: Import;
  readonly members: readonly Member[];
}

/** What is remembered of a state from one start to the next: the rest of it only the storage knows. */
export type Remembered = Pick<State, 'id' | 'system' | 'machine' | 'user' | 'name'> & {
  readonly members: readonly Pick<Member, 'unreadable' | 'torn'>[];
};

/** A state came from somewhere else. */
export interface Import {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The id it had there. */
  readonly id: string;
  /** The machine it was of. */
  readonly machine: string;
  /** False: no machine goes back to it. Records of older versions do not say it: it came from a vault, to a vault. */
  readonly bootable?: boolean;
}

/** Everything the daemon knows; never changed in place, so a request reads one instant of it. */
export interface Model {
  /** Current first, then by id. */
  readonly machines: readonly Machine[];
  /** By user. */
  readonly homes: readonly Home[];
  /** Newest first. */
  readonly states: readonly State[];
  /** Ids of states whose removal has begun. */
  readonly removing: ReadonlySet<string>;
  /** The same ids and those that are gone already, by removal; nobody but the daemon knows. */
  readonly removals?: readonly (readonly string[])[];
}

/** Everything that a save of a machine takes: its system and the homes linked to it. */
export function datasetsOf({ homes }: Pick<Model, 'homes'>, machine: Machine): readonly Dataset[] {
  return [
    ...machine.datasets,
    ...homes
      .filter(({ machines }) => machines.includes(machine.id))
      .flatMap((home) => home.datasets ?? [homeDataset(home)]),
  ];
}

/** A home as a dataset; a user has one. */
export function homeDataset({ user, path }: Pick<Home, 'user' | 'path'>): Dataset {
  return { name: `home-${user}`, role: 'user', user, path };
}

/** Something of the state is not in it: unreadable or torn entries. */
export function isPartial(state: Pick<Remembered, 'members'>): boolean {
  return state.members.some((member) => member.unreadable > 0 || member.torn > 0);
}

/** A machine can be made what it was in the state. */
export function canGoBackTo({ imported }: Pick<State, 'imported'>): boolean {
  return imported?.bootable !== false;
}

/** The name that is unique on this host and shows the machine, and for a home its user: `vault:/etc/ada@before-upgrade`. */
export function storageName({ machine, user, name }: Pick<State, 'machine' | 'user' | 'name'>): string {
  return `${user === undefined ? machine : `${machine}/${user}`}@${name}`;
}

/** States that were saved together: a system state and its users', or one user's. A save is complete as a whole or not there. */
export function savedWith(states: readonly State[], state: State): readonly State[] {
  const group = state.system ?? state.id;
  return states.filter(({ id, system }) => id === group || system === group);
}

/**
 * Ids of the system states that machines were or will be booted from, and of those that an unfinished way back leads between:
 * they are never removed, nor are those of users that were saved with them.
 */
export function statesInUse({ machines, states }: Pick<Model, 'machines' | 'states'>): ReadonlySet<string> {
  const ids = machines.flatMap(({ id, bootedState, nextState, prepared }) => {
    const unfinished = prepared?.done === false ? prepared : undefined;
    const before =
      unfinished &&
      states.find(
        ({ machine, name, kind }) => machine === id && kind === 'system' && name === unfinished.saved,
      );
    return [bootedState, nextState, unfinished?.state, before?.id];
  });
  return new Set(ids.filter((id) => id !== undefined));
}
