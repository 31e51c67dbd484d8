import type { Machine, Model, State } from '../../model/model.ts';
import { checkNameFree } from './save-plan.ts';
import { checkTypedName } from './state-name.ts';

/** What chance and the clock decide, decided before. */
interface ImportChoices {
  /** Id of the first state. */
  readonly id: string;
  /** A new id each time. */
  readonly newId: () => string;
  readonly now: Date;
}

/**
 * The name that an import will have: the one that was asked for, else the one it had where it came from.
 * @throws INVALID_ARGUMENT, ALREADY_EXISTS
 */
export function checkImportName(
  model: Model,
  machine: Machine,
  { name, user }: Pick<State, 'name' | 'user'>,
  wanted: string,
): string {
  checkTypedName(wanted);
  const given = wanted || name;
  // It may have been automatic where it came from; here it is what somebody wanted to have.
  if (!/^auto_[a-z0-9]{6}$/.test(given)) checkTypedName(given);
  checkNameFree(model, machine, user, given);
  return given;
}

/** Some of what came in, and where from. */
interface Received {
  readonly driver: string;
  readonly states: readonly State[];
}

/**
 * What was received as states of a machine: with ids of their own, because what is exported may come back twice, and never
 * younger than now. Nobody here pinned them, and nothing here makes them go by itself.
 * @param driver of the storage here
 */
export function planImport(
  machine: Machine,
  { driver: from, states }: Received,
  driver: string,
  name: string,
  { id, newId, now }: ImportChoices,
): readonly State[] {
  // Another storage divides a system otherwise: a root without what lay in datasets of their own would replace one that has it.
  // On ZFS a machine goes back to a snapshot of its own root, by running a clone of that.
  const bootable = from === driver && driver !== 'zfs';
  return states.map((state, at) => ({
    ...state,
    id: at === 0 ? id : newId(),
    ...(at === 0 ? {} : { system: id }),
    machine: machine.id,
    name,
    automatic: false,
    pinned: false,
    createdAt: state.createdAt < now.toISOString() ? state.createdAt : now.toISOString(),
    imported: { at: now.toISOString(), id: state.id, machine: state.machine, bootable },
  }));
}
