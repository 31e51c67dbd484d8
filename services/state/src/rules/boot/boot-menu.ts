import { canGoBackTo, type Machine, type Model, type State, savedWith } from '../../model/model.ts';
import { timeText } from '../machines/machine-text.ts';
import { lastSavedFirst } from '../states/gc-plan.ts';
import type { Policy } from '../states/policy.ts';

/** A kernel that can be booted. Paths are those of this host. */
export interface Kernel {
  /** The name of its file, `vmlinuz-6.1.0-13-amd64`. */
  readonly name: string;
  readonly linux: string;
  readonly initrd: string | undefined;
}

/** What the menu of any boot loader is made from. */
export interface MenuFacts {
  /** The name of the system, for people. */
  readonly system: string;
  readonly kernels: readonly Kernel[];
  /** The words the kernel was given this time. */
  readonly commandLine: string;
  /** By id of a state, words that boot it; those of this boot that say otherwise are left out. */
  readonly bootWords?: ReadonlyMap<string, readonly string[]>;
}

/** One way to go back to a state. */
export interface MenuEntry {
  /** Unique; letters, digits and `-`. */
  readonly id: string;
  /** The id of the state. */
  readonly state: string;
  readonly title: string;
  readonly kernel: Kernel;
  /** Words for the kernel. */
  readonly options: readonly string[];
}

/** A menu that no boot loader chokes on. */
export interface MenuPlan {
  /** Newest state first. */
  readonly entries: readonly MenuEntry[];
  readonly states: number;
  /** States that are not in it, because it would be too long. */
  readonly leftOut: number;
  /** Of those with a root of their own the ones whose kernel is gone: that root may have no modules for the one they get. */
  readonly strange: readonly State[];
}

/**
 * The menu of a machine: pinned states, the newest, and of the older ones some from each stretch of time. Each goes back with
 * the kernel it was saved with where that is still there, else with the newest. Empty when there is no kernel.
 */
export function planMenu(
  model: Model,
  machine: Machine,
  limits: Policy['menu'],
  { system, kernels, commandLine, bootWords }: MenuFacts,
): MenuPlan {
  const states = offered(model, machine);
  const sorted = [...kernels].sort((a, b) => byVersion(b.name, a.name));
  const ways = (state: State) => (savedWith(model.states, state).length > 1 ? [false, true] : [false]);
  const picked = chosen(states, limits.states, machine.nextState);
  const next = picked.filter(({ id }) => id === machine.nextState);
  const shown = new Set<State>();
  let room = sorted.length === 0 ? 0 : limits.entries;
  for (const state of new Set([...next, ...lastSavedFirst(picked)])) {
    room -= ways(state).length;
    if (room < 0) break;
    shown.add(state);
  }
  const inMenu = picked.filter((state) => shown.has(state));
  const ownKernel = (state: State) => sorted.find(({ name }) => name === state.kernel);
  const entries = inMenu.flatMap((state) => {
    const kernel = (ownKernel(state) ?? sorted[0]) as Kernel;
    const words = wordsFor(commandLine, bootWords?.get(state.id) ?? ownState(state));
    return ways(state).map((users) => entryOf(state, users, kernel, words, system));
  });
  const strange = inMenu.filter(
    (state) => bootWords?.has(state.id) && state.kernel !== '' && ownKernel(state) === undefined,
  );
  return { entries, states: shown.size, leftOut: states.length - shown.size, strange };
}

/** The states that a menu shows, newest first. */
export function menuStates(model: Model, machine: Machine, limits: Policy['menu']): readonly State[] {
  return chosen(offered(model, machine), limits.states, machine.nextState);
}

function offered(model: Model, machine: Machine): readonly State[] {
  return model.states.filter(
    (state) =>
      state.kind === 'system' &&
      state.machine === machine.id &&
      !model.removing.has(state.id) &&
      canGoBackTo(state),
  );
}

function entryOf(
  state: State,
  users: boolean,
  kernel: Kernel,
  words: readonly string[],
  system: string,
): MenuEntry {
  const time = timeText(state.createdAt).replace(/:\d\d UTC$/, ' UTC');
  return {
    id: entryId(state.id, users),
    state: state.id,
    title: `${system} as of ${time}, ${state.name}${users ? ', with homes' : ''}`,
    kernel,
    options: [...words, ...(users ? ['statesvc.revert=userdata'] : [])],
  };
}

/** How many states entries go back to. */
export function statesIn(entries: readonly MenuEntry[]): number {
  return new Set(entries.map(({ state }) => state)).size;
}

/** The way back to a state; with its homes where that is asked for and there are any. */
export function stateEntry(
  entries: readonly MenuEntry[],
  state: string,
  users: boolean,
): MenuEntry | undefined {
  const ids = [...(users ? [entryId(state, true)] : []), entryId(state, false)];
  return ids.flatMap((id) => entries.find((entry) => entry.id === id) ?? [])[0];
}

/** Whether an entry, by its id, goes back to a state. */
export function leadsTo(entry: string, state: string): boolean {
  return [entryId(state, false), entryId(state, true)].includes(entry);
}

function entryId(state: string, users: boolean): string {
  return `croft-${state}${users ? '-users' : ''}`;
}

/** At most so many, newest first. @param next id of the one that the next boot is to take */
function chosen(states: readonly State[], most: number, next: string | undefined): readonly State[] {
  if (states.length <= most) return states;
  const isNext = ({ id }: State) => id === next;
  const wanted = states.filter((state) => state.pinned && !isNext(state));
  const pinned = [...states.filter(isNext), ...wanted].slice(0, most);
  // What a clock that was behind calls the oldest may be what was saved last.
  const others = lastSavedFirst(states).filter((state) => !pinned.includes(state));
  const newest = others.slice(0, Math.ceil((most - pinned.length) / 2));
  const older = others.slice(newest.length);
  const places = most - pinned.length - newest.length;
  const spread = Array.from(
    { length: places },
    (_, place) => older[Math.floor(((place + 0.5) * older.length) / places)],
  );
  const taken = new Set([...pinned, ...newest, ...spread]);
  return states.filter((state) => taken.has(state));
}

/** Where a state is nothing that a kernel could boot, PrepareBoot is told of it. */
function ownState({ id }: State): readonly string[] {
  return [`statesvc.state=${id}`];
}

/**
 * The words of this boot without what is about it alone, and without the root where the state brings its own. Flags of the
 * root that do not say which subvolume it is stay where only that is another.
 */
export function wordsFor(commandLine: string, own: readonly string[]): readonly string[] {
  const names = new Set(own.map((word) => word.split('=', 1)[0]));
  const isLeft = (word: string) =>
    !/^(BOOT_IMAGE|initrd|statesvc\.\w+)=/.test(word) &&
    !(names.has('root') && /^root(flags)?=/.test(word)) &&
    !(names.has('rootflags') && word.startsWith('rootflags='));
  const words = commandLine.split(/\s+/).filter((word) => word !== '');
  const flags = names.has('root') ? [] : words.flatMap(flagsOf);
  return [
    ...words.filter(isLeft),
    ...own.map((word) => (word.startsWith('rootflags=') ? [word, ...flags].join(',') : word)),
  ];
}

function flagsOf(word: string): readonly string[] {
  const [, flags] = /^rootflags=(.+)$/.exec(word) ?? [];
  return flags?.split(',').filter((flag) => !/^subvol(id)?=/.test(flag)) ?? [];
}

/** `6.9` before `6.10`. */
function byVersion(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
