import { currentStateRefused, stateBeingRemoved } from '../failures.ts';
import { type Model, type State, savedWith, statesInUse, storageName } from '../model/model.ts';
import { findState, type Wanted } from './find-state.ts';

/** One step of a removal, in the order they are taken. */
export type RemoveStep =
  | { readonly do: 'destroy'; readonly states: readonly State[] }
  | { readonly do: 'collect' }
  | { readonly do: 'forget'; readonly states: readonly State[] };

/** What a removal will do; the same plan is logged by a dry run and carried out by a real one. */
export interface RemovePlan {
  /** The state that was named, and what goes with it. */
  readonly states: readonly State[];
  readonly steps: readonly RemoveStep[];
  /** Why it is only done with `force`, one line each; empty when it simply is. */
  readonly inTheWay: readonly string[];
}

/**
 * Decides the removal of the state that goes by `wanted`, or refuses it. The states of a machine's users that were saved with
 * a system state go with it. `force` never overrides what is thrown here.
 */
export function planRemoval(model: Model, wanted: Wanted, force: boolean): RemovePlan {
  const state = findState(model, wanted);
  const states = state.kind === 'system' ? savedWith(model.states, state) : [state];
  for (const each of states) checkRemovable(model, each);
  return {
    states,
    steps: removalSteps(states),
    inTheWay: force ? [] : states.flatMap((each) => objections(model, state, each)),
  };
}

/** What removing states that were saved together takes. */
export function removalSteps(states: readonly State[]): RemoveStep[] {
  return [{ do: 'destroy', states }, { do: 'collect' }, { do: 'forget', states }];
}

/** @throws FAILED_PRECONDITION, ABORTED */
function checkRemovable(model: Model, state: State): void {
  if (statesInUse(model).has(state.system ?? state.id)) throw currentStateRefused(state.name);
  if (model.removing.has(state.id)) throw stateBeingRemoved(state.name);
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
