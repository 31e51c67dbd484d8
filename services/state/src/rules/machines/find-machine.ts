import { ambiguousMachine, machineNotFound } from '../../failures.ts';
import type { Machine, Model } from '../../model/model.ts';

/**
 * The one machine that goes by `wanted`: its id, the end of its id from a separator on, or the id of one of its states.
 * Empty means the one that runs.
 */
export function findMachine(model: Model, wanted: string): Machine {
  if (wanted === '') return currentMachine(model);
  const exact = model.machines.find((machine) => machine.id === wanted);
  if (exact !== undefined) return exact;
  const ends = model.machines.filter(
    ({ id }) => id.endsWith(wanted) && /[:/]/.test(id.charAt(id.length - wanted.length - 1)),
  );
  if (ends.length > 1)
    throw ambiguousMachine(
      wanted,
      ends.map(({ id }) => id),
    );
  const state = model.states.find(({ id }) => id === wanted);
  const found = ends[0] ?? model.machines.find(({ id }) => id === state?.machine);
  if (found === undefined)
    throw machineNotFound(
      wanted,
      model.states.some(({ name }) => name === wanted),
    );
  return found;
}

/**
 * The machine that is meant by something of its storage: a pool or dataset that holds it, or a dataset of its system. Else as
 * {@link findMachine}.
 */
export function findMachineIn(model: Model, wanted: string): Machine {
  const holds = (whole: string, part: string) => part === whole || part.startsWith(`${whole}/`);
  const found = model.machines.filter(({ id, datasets }) =>
    [id, ...datasets.map(({ name }) => name)].some((name) => holds(wanted, name) || holds(name, wanted)),
  );
  if (wanted === '' || found.length === 0) return findMachine(model, wanted);
  const [first, ...others] = found as [Machine, ...Machine[]];
  const exact = found.find(({ id }) => id === wanted);
  if (exact === undefined && others.length > 0)
    throw ambiguousMachine(
      wanted,
      found.map(({ id }) => id),
    );
  return exact ?? first;
}

/** The machine that runs: there is always one, managed or not. */
export function currentMachine(model: Model): Machine {
  return model.machines.find((machine) => machine.current) as Machine;
}
