import { ambiguousState, currentStateRefused, stateBeingRemoved, stateNotFound } from '../../failures.ts';
import { type Model, type State, storageName } from '../../model/model.ts';

/** What separates the parts of a name; a suffix starts after one, so that `2` does not find `before-12`. */
const SEPARATORS = '._:-@/';

/** What somebody looks for. */
export interface Wanted {
  /** As it was typed. */
  readonly name: string;
  /** States of this user's home; undefined for states of systems. */
  readonly user: string | undefined;
}

/**
 * The one state that goes by a name: its id, its name with the machine (`vault:/etc@name`), its name, or the end of its
 * name from a separator on (`x7k2m1` finds `auto_x7k2m1`). The closer kind of match wins; within it there must be one.
 * @throws NOT_FOUND; INVALID_ARGUMENT with the candidates; FAILED_PRECONDITION when it is the live system itself
 */
export function findState({ machines, states }: Pick<Model, 'machines' | 'states'>, wanted: Wanted): State {
  const { name } = wanted;
  // The live system is a machine's current state, and a machine's id is its name.
  if (machines.some(({ id }) => id === name)) throw currentStateRefused(name);
  const found = findStates(states, wanted);
  if (found.length > 1) {
    throw ambiguousState(
      name,
      found.map((state) => `${storageName(state)} (${state.id}, ${state.createdAt})`),
    );
  }
  if (found[0] === undefined) throw stateNotFound(name, hintAt(states, wanted));
  return found[0];
}

/** What may be meant by a name that no state has; nothing here is slow, however long the name and however many the states. */
function hintAt(states: readonly State[], { name, user }: Wanted): string | undefined {
  if (name === '') return undefined;
  const others = states.filter((state) => state.name === name && state.user !== user);
  const isSystems = others.some((state) => state.user === undefined);
  if (user !== undefined && isSystems) return ` of the home of ${user}, but one of the system: name no user`;
  if (user === undefined && others[0] !== undefined)
    return ` of the system, but one of the home of ${others[0].user}: name the user, too`;
  const longer = states.find((state) => state.user === user && state.name.startsWith(name));
  return longer === undefined ? undefined : `: did you mean ${longer.name}?`;
}

/**
 * The same for what is not a removal: the live system is no state.
 * @throws NOT_FOUND; INVALID_ARGUMENT with the candidates; ABORTED when it is being removed
 */
export function nameState({ states, removing }: Pick<Model, 'states' | 'removing'>, wanted: Wanted): State {
  const state = findState({ machines: [], states }, wanted);
  if (removing.has(state.id)) throw stateBeingRemoved(state.name);
  return state;
}

/** The states that go by a name, by the closest kind of match. */
export function findStates(states: readonly State[], { name, user }: Wanted): readonly State[] {
  if (name === '') return [];
  const candidates = states.filter((state) => state.user === user);
  const matches: ((state: State) => boolean)[] = [
    (state) => state.id === name,
    (state) => storageName(state) === name,
    (state) => state.name === name,
    (state) => endsWithPart(state.name, name),
  ];
  for (const fits of matches) {
    const found = candidates.filter(fits);
    if (found.length > 0) return found;
  }
  return [];
}

function endsWithPart(name: string, end: string): boolean {
  return name.endsWith(end) && SEPARATORS.includes(name.charAt(name.length - end.length - 1) || ' ');
}
