import { isPartial, type Remembered, type State, storageName } from '../../model/model.ts';
import type { PlannedSave } from './save-plan.ts';

/** All that a removal takes. */
export interface Removal {
  /** Of states; it goes by the first. */
  readonly ids: readonly [string, ...string[]];
  /** What was made from the states and is none, and goes with them. */
  readonly dependants: readonly { readonly name: string; readonly guid: string }[];
}

/** A write that was begun and of which nobody knows that it ended. */
export interface Intent extends Partial<Removal> {
  readonly do: 'save' | 'remove';
  /** Id of the state; of a save that of its first. */
  readonly id: string;
  /** What a save will make, where that can be completed from what it made. */
  readonly plan?: PlannedSave;
}

/**
 * Remembers a write that begins. A removal that was asked for again names all that is left of the one that stopped, so it takes
 * its place.
 */
export function addIntent(open: Map<string, Intent>, intent: Intent): void {
  const ids = new Set(idsOf(intent));
  for (const [id, other] of open)
    if (other.do === 'remove' && idsOf(other).some((one) => ids.has(one))) open.delete(id);
  open.set(intent.id, intent);
}

/** A removal that was begun, and states of it that are there. */
export interface UnfinishedRemoval extends Removal {
  readonly states: readonly State[];
}

/** A save that the storage cannot read; it is left alone, whatever it is. */
interface KeptSave {
  readonly id: string;
  readonly why: string;
  /** Only parts of a completion mark are there, as an interrupted save leaves them. */
  readonly isUnmarked: boolean;
}

/** What the storage says of saves that are no states. */
interface Doubts {
  readonly kept?: readonly KeptSave[];
  /** Leftovers whose states the index remembers can be kept. */
  readonly canKeep?: boolean;
}

/** What is left to do after a crash, and why. */
interface Reconciliation {
  readonly states: readonly State[];
  /** Ids whose unfinished save is cleared away. */
  readonly discard: readonly string[];
  /** Ids of saves that lost their completion mark: they were complete once, so nobody but people may remove them. */
  readonly keep: readonly string[];
  /** Removals that are finished now. */
  readonly finish: readonly UnfinishedRemoval[];
  /** Content may lie in the storage that no state uses. */
  readonly collect: boolean;
  /** What differed, for the log. */
  readonly notes: readonly string[];
}

/**
 * Brings the index and the storage together at start. Storage is the truth: a state is there when the storage holds its
 * completion mark, whatever the index remembers.
 */
export function reconcile(
  remembered: readonly Remembered[],
  intents: readonly Intent[],
  stored: readonly State[],
  leftovers: readonly string[],
  { kept = [], canKeep = false }: Doubts = {},
): Reconciliation {
  const notes: string[] = [];
  const storedById = new Map(stored.map((state) => [state.id, state]));
  const begun = intents.filter((intent) => intent.do === 'remove').map(removalOf);
  const removals = new Set(begun.flatMap(({ ids }) => ids));
  const saves = new Set(intents.filter((intent) => intent.do === 'save').map(({ id }) => id));
  const finish = begun
    .map((removal) => ({ ...removal, states: removal.ids.flatMap((id) => storedById.get(id) ?? []) }))
    .filter(({ states }) => states.length > 0);
  const removing = removals.size === 0 ? [] : stored.filter(({ id }) => removals.has(id));
  for (const state of removing)
    notes.push(`the removal of ${storageName(state)} was interrupted and is to be finished`);
  // There may be thousands, and most starts have no leftovers.
  const known = new Set(leftovers.length === 0 ? [] : remembered.map((state) => state.system ?? state.id));
  const keep = canKeep
    ? leftovers.filter((id) => known.has(id) && !saves.has(id) && !removals.has(id) && !storedById.has(id))
    : [];
  const spared = kept.filter(({ id, isUnmarked }) => !(isUnmarked && saves.has(id)));
  for (const { id, why } of spared) notes.push(`what is left of the save of state ${id} is kept: ${why}`);
  for (const id of keep)
    notes.push(`what is left of the save of state ${id} is kept: its completion mark has gone`);
  const untouched = new Set([...keep, ...spared.map(({ id }) => id)]);
  const discard = [...new Set([...saves, ...leftovers])].filter(
    (id) => !untouched.has(id) && !storedById.has(id),
  );
  for (const id of discard) notes.push(`the save of state ${id} was interrupted and is cleared away`);
  const unknown = new Map(storedById);
  let hasGone = false;
  for (const state of remembered) {
    const found = storedById.get(state.id);
    unknown.delete(state.id);
    hasGone ||= found === undefined;
    if (removals.has(state.id)) continue;
    if (found === undefined)
      notes.push(`${storageName(state)} (${state.id}) is no longer in the storage and was forgotten`);
    else if (isPartial(found) && !isPartial(state))
      notes.push(`${storageName(state)} (${state.id}) is no longer whole in the storage`);
  }
  for (const state of unknown.values()) {
    const isOfSave = saves.has(state.system ?? state.id);
    if (!isOfSave && !removals.has(state.id))
      notes.push(`${storageName(state)} (${state.id}) was found in the storage`);
  }
  return {
    states: removing.length === 0 ? stored : stored.filter(({ id }) => !removals.has(id)),
    discard,
    keep,
    finish,
    // What a state held that lost its record is needed by nobody, too.
    collect: intents.length > 0 || leftovers.length > 0 || hasGone,
    notes,
  };
}

/** An older daemon wrote less of it. */
function removalOf(intent: Intent): Removal {
  return { ids: idsOf(intent), dependants: intent.dependants ?? [] };
}

function idsOf({ id, ids = [id] }: Intent): Removal['ids'] {
  return ids;
}
