import { currentStateRefused, dependantInUse, nextStateRefused, stateBeingRemoved } from '../../failures.ts';
import {
  type Machine,
  type Model,
  type State,
  savedWith,
  statesInUse,
  storageName,
} from '../../model/model.ts';
import { findState, type Wanted } from './find-state.ts';

/** What was made from a state, as the storage tells it. */
interface Dependant {
  readonly name: string;
  readonly kind: string;
  readonly inUse: boolean;
}

/** A step of a removal after which something is gone. */
export type TakingStep<D = Dependant> =
  | { readonly do: 'release'; readonly dependant: D }
  | { readonly do: 'destroy'; readonly states: readonly State[] };

/** One step of a removal, in the order they are taken. */
export type RemoveStep<D = Dependant> =
  | TakingStep<D>
  | { readonly do: 'collect' }
  | { readonly do: 'forget'; readonly states: readonly State[] };

/** What goes in one step: states that were saved together, or what was made from states and is none. */
export type Part<D> = readonly State[] | D;

/** What a removal will do; the same plan is logged by a dry run and carried out by a real one. */
export interface RemovePlan<D> {
  /** All that goes, in the order in which it can. */
  readonly parts: readonly Part<D>[];
  readonly steps: readonly RemoveStep<D>[];
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
  const all = withOwners(model, removedWith(model, state), dependants);
  const inUse = statesInUse(model);
  const inUseNow = statesInUse({ ...model, machines: model.machines.map(withoutNext) });
  for (const each of all) {
    const system = each.system ?? each.id;
    if (inUseNow.has(system)) throw currentStateRefused(each.name);
    if (inUse.has(system)) throw nextStateRefused(each.name);
    // Whoever has the turns of their machines knows that what has begun has stopped.
    if (!force && model.removing.has(each.id)) throw stateBeingRemoved(each.name);
  }
  const running = dependants.find((dependant) => dependant.inUse);
  if (running !== undefined) throw dependantInUse(state.name, running.name);
  const parts = inOrder(all, dependants);
  const others = parts.filter((part) => isDependant(part) || !part.includes(state));
  return {
    parts,
    steps: removalSteps(parts),
    inTheWay: force
      ? []
      : [
          ...all.flatMap((each) => objections(model, state, each)),
          ...others.map((part) => objectionOf(part, state)),
        ],
  };
}

function withoutNext(machine: Machine): Machine {
  return { ...machine, nextState: undefined };
}

/** What goes with a state: with that of a system those of its users, and what is left of a removal that stopped. */
function removedWith({ states, removals = [] }: Model, state: State): readonly State[] {
  const saved = state.kind === 'system' ? savedWith(states, state) : [state];
  const begun = new Set(removals.filter((ids) => saved.some(({ id }) => ids.includes(id))).flat());
  return states.filter((one) => saved.includes(one) || begun.has(one.id));
}

/** States, and those whose snapshots are among what depends on them, each with what goes with it. */
export function withOwners(
  model: Model,
  states: readonly State[],
  dependants: readonly Dependant[],
): readonly State[] {
  const owners = dependants.flatMap((one) => ownerOf(model, one) ?? []);
  return [...new Set([...states, ...owners.flatMap((owner) => removedWith(model, owner))])];
}

/**
 * All that a removal takes, in the order in which it can go.
 * @param dependants of the states, deepest first; snapshots that are members of states stand for these
 */
export function inOrder<D extends Dependant>(states: readonly State[], dependants: readonly D[]): Part<D>[] {
  const groups = Map.groupBy(states, ({ id, system }) => system ?? id);
  const parts = dependants.map((dependant): Part<D> => {
    const owner = ownerOf({ states }, dependant);
    return groups.get(owner?.system ?? owner?.id ?? '') ?? dependant;
  });
  return [...new Set([...parts, ...groups.values()])];
}

/** The state that a snapshot is a member of. */
export function ownerOf(
  { states }: Pick<Model, 'states'>,
  { name }: Pick<Dependant, 'name'>,
): State | undefined {
  return states.find(({ members }) => members.some(({ snapshot }) => snapshot === name));
}

/** The states among what goes. */
export function statesAmong<D extends Dependant>(parts: readonly Part<D>[]): State[] {
  return parts.flatMap((part) => (isDependant(part) ? [] : part));
}

/** Whether something is no state. */
export function isDependant<D extends Dependant>(part: Part<D>): part is D {
  return !Array.isArray(part);
}

function objectionOf(part: Part<Dependant>, { name }: State): string {
  if (isDependant(part)) return `${part.kind} ${part.name} was made from ${name} or what depends on it`;
  return `${part.map(storageName).join(', ')} would be removed, too: what was made from ${name} holds it`;
}

/** What a removal takes: one write, whatever belongs to it. */
export function removalSteps<D extends Dependant>(parts: readonly Part<D>[]): RemoveStep<D>[] {
  return [
    ...parts.map(
      (part): RemoveStep<D> =>
        isDependant(part) ? { do: 'release', dependant: part } : { do: 'destroy', states: part },
    ),
    { do: 'collect' },
    { do: 'forget', states: statesAmong(parts) },
  ];
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

/** What goes in one step, for people. */
export function describePart(part: Part<Dependant>): string {
  return isDependant(part) ? `the ${part.kind} ${part.name}` : part.map(storageName).join(', ');
}

/** A step as the line a caller sees, dry or not. */
export function describeStep(step: RemoveStep): string {
  switch (step.do) {
    case 'release':
      return `remove ${describePart(step.dependant)}`;
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
