import { ambiguousState, currentStateRefused, stateNotFound } from '../failures.ts';
import { type Model, type State, storageName } from '../model/model.ts';

/** What separates the parts of a name; a suffix starts after one, so that `2` does not find `before-12`. */
const SEPARATORS = '._:-@/';

/**
 * The one state that goes by `wanted`: its id, its name with the machine (`vault:/etc@name`), its name, or the end of its
 * name from a separator on (`x7k2m1` finds `auto_x7k2m1`). The closer kind of match wins; within it there must be one.
 * @throws NOT_FOUND; INVALID_ARGUMENT with the candidates; FAILED_PRECONDITION when it is the live system itself
 */
export function findState(model: Model, wanted: string): State {
  if (wanted === '') throw stateNotFound(wanted);
  // The live system is a machine's current state, and a machine's id is its name.
  if (model.machines.some((machine) => machine.id === wanted)) throw currentStateRefused(wanted);
  const matches: ((state: State) => boolean)[] = [
    (state) => state.id === wanted,
    (state) => storageName(state) === wanted,
    (state) => state.name === wanted,
    (state) => endsWithPart(state.name, wanted),
  ];
  for (const fits of matches) {
    const found = model.states.filter(fits);
    if (found.length === 1) return found[0] as State;
    if (found.length > 1) {
      throw ambiguousState(
        wanted,
        found.map((state) => `${storageName(state)} (${state.id}, ${state.createdAt})`),
      );
    }
  }
  throw stateNotFound(wanted);
}

function endsWithPart(name: string, end: string): boolean {
  return name.endsWith(end) && SEPARATORS.includes(name.charAt(name.length - end.length - 1) || ' ');
}
