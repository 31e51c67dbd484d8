import { currentStateRefused, stateBeingRemoved } from '../failures.ts';
import { type Model, type State, storageName } from '../model/model.ts';
import { findState } from './find-state.ts';

/** One step of a removal, in the order they are taken. */
export type RemoveStep =
  | { readonly do: 'destroy'; readonly state: State }
  | { readonly do: 'collect' }
  | { readonly do: 'forget'; readonly state: State };

/** What a removal will do; the same plan is logged by a dry run and carried out by a real one. */
interface RemovePlan {
  readonly state: State;
  readonly steps: readonly RemoveStep[];
}

/**
 * Decides the removal of the state that goes by `wanted`, or refuses it.
 * Vault states have no dependants, so `force` changes nothing here; it never overrides these refusals.
 */
export function planRemoval(model: Model, wanted: string): RemovePlan {
  const state = findState(model, wanted);
  if (model.machines.some((machine) => machine.bootedState === state.id)) {
    throw currentStateRefused(state.name);
  }
  if (model.removing.has(state.id)) throw stateBeingRemoved(state.name);
  return {
    state,
    steps: [{ do: 'destroy', state }, { do: 'collect' }, { do: 'forget', state }],
  };
}

/** A step as the line a caller sees, dry or not. */
export function describeStep(step: RemoveStep): string {
  switch (step.do) {
    case 'destroy':
      return `remove ${storageName(step.state)} (${step.state.id}): ${step.state.members
        .map((member) => `${member.dataset} ${member.path}`)
        .join(', ')}`;
    case 'collect':
      return 'free the content that no other state uses';
    case 'forget':
      return `forget ${step.state.name}`;
  }
}
