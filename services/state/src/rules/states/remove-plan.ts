import { currentStateRefused, dependantInUse, stateBeingRemoved } from '../../failures.ts';
import { type Model, type State, savedWith, statesInUse, storageName } from '../../model/model.ts';
import { findState, type Wanted } from './find-state.ts';

/** What was made from a state, as the storage tells it. */
interface Dependant {
  readonly name: string;
  readonly kind: string;
  readonly inUse: boolean;
}

/** One step of a removal, in the order they are taken. */
export type RemoveStep =
  | { readonly do: 'release'; readonly name: string; readonly kind: string }
  | { readonly do: 'destroy'; readonly states: readonly State[] }
  | { readonly do: 'collect' }
  | { readonly do: 'forget'; readonly states: readonly State[] };

/** What a removal will do; the same plan is logged by a dry run and carried out by a real one. */
export interface RemovePlan<D> {
  /** The state that was named, and what goes with it. */
  readonly states: readonly State[];
  /** What goes before them, because it was made from them: states that were saved together, or what is no state. */
  readonly before: readonly (readonly State[] | D)[];
  readonly steps: readonly RemoveStep[];
  /** Why it is only done with `force`, one line each; empty when it simply is. */
  readonly inTheWay: readonly string[];
}

/**
 * Decides the removal of the state that goes by `wanted`, or refuses it. The states of a machine's users that were saved with
 * a system state go with it. `force` never overrides what is thrown here.
 * @param dependants of the states, deepest first
 */
export function planRemoval<D extends Dependant>(
  model: Model,
  wanted: Wanted,
  force: boolean,
  dependants: readonly D[] = [],
): RemovePlan<D> {
  const state = findState(model, wanted);
  const states = removedWith(model, state);
  const before = beforehand(model, states, dependants);
  const all = [...states, ...statesAmong(before)];
  const inUse = statesInUse(model);
  for (const each of all) {
    if (inUse.has(each.system ?? each.id)) throw currentStateRefused(each.name);
    if (model.removing.has(each.id)) throw stateBeingRemoved(each.name);
  }
  const running = dependants.find((dependant) => dependant.inUse);
  if (running !== undefined) throw dependantInUse(state.name, running.name);
  return {
    states,
    before,
    steps: [
      ...before.flatMap((part): RemoveStep[] =>
        isDependant(part) ? [{ do: 'release', name: part.name, kind: part.kind }] : removalSteps(part),
      ),
      ...removalSteps(states),
    ],
    inTheWay: force
      ? []
      : [
          ...all.flatMap((each) => objections(model, state, each)),
          ...before.map((part) => objectionOf(part, state)),
        ],
  };
}

/** What goes with a state: with that of a system those of its users. */
export function removedWith(model: Model, state: State): readonly State[] {
  return state.kind === 'system' ? savedWith(model.states, state) : [state];
}

/** Snapshots that are members of other states stand for these. */
function beforehand<D extends Dependant>(
  model: Model,
  states: readonly State[],
  dependants: readonly D[],
): readonly (readonly State[] | D)[] {
  const seen = new Set(states.map(({ id }) => id));
  return dependants.flatMap((dependant): (readonly State[] | D)[] => {
    const owner = ownerOf(model, dependant);
    if (owner === undefined) return [dependant];
    const group = removedWith(model, owner).filter(({ id }) => !seen.has(id));
    for (const { id } of group) seen.add(id);
    return group.length === 0 ? [] : [group];
  });
}

/** The state that a snapshot is a member of. */
export function ownerOf({ states }: Pick<Model, 'states'>, { name }: Dependant): State | undefined {
  return states.find(({ members }) => members.some(({ snapshot }) => snapshot === name));
}

/** The states among what goes before others. */
export function statesAmong<D extends Dependant>(before: RemovePlan<D>['before']): State[] {
  return before.flatMap((part) => (isDependant(part) ? [] : part));
}

/** Whether something is no state. */
export function isDependant<D extends Dependant>(part: readonly State[] | D): part is D {
  return !Array.isArray(part);
}

function objectionOf(part: readonly State[] | Dependant, { name }: State): string {
  if (isDependant(part)) return `${part.kind} ${part.name} was made from ${name} or what depends on it`;
  return `${part.map(storageName).join(', ')} would be removed, too: what was made from ${name} holds it`;
}

/** What removing states that were saved together takes. */
export function removalSteps(states: readonly State[]): RemoveStep[] {
  return [{ do: 'destroy', states }, { do: 'collect' }, { do: 'forget', states }];
}

function objections(model: Model, named: State, state: State): string[] {
  const lines: string[] = [];
  if (state.pinned) lines.push(`${storageName(state)} is pinned`);
  if (named.kind === 'user' && state.system !== undefined) {
    const system = model.states.find(({ id }) => id === state.system);
    if (system !== undefined)
      lines.push(
        `${storageName(state)} belongs to the system state ${storageName(system)}, which would be without it`,
      );
  }
  return lines;
}

/** A step as the line a caller sees, dry or not. */
export function describeStep(step: RemoveStep): string {
  switch (step.do) {
    case 'release':
      return `remove the ${step.kind} ${step.name}`;
    case 'destroy':
      return `remove ${step.states.map(describeState).join('; ')}`;
    case 'collect':
      return 'free the content that no other state uses';
    case 'forget':
      return `forget ${step.states.map(storageName).join(', ')}`;
  }
}

function describeState(state: State): string {
  const members = state.members.map(({ dataset, path }) => `${dataset} ${path}`).join(', ');
  return `${storageName(state)} (${state.id}): ${members}`;
}
