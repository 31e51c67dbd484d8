import { type Machine, type Model, type State } from '../../model/model.ts';
import type { Happening, StateEvent } from '../../wire-extras.ts';

/** What happened between two instants of the model, oldest thing first where that is known. */
export function changesBetween(before: Model, after: Model): readonly Happening[] {
  return [
    ...(before.states === after.states ? [] : ofStates(before.states, after.states)),
    ...(before.machines === after.machines ? [] : ofMachines(before.machines, after.machines)),
    ...(before.homes === after.homes ? [] : ofHomes(before, after)),
  ];
}

function ofStates(before: readonly State[], after: readonly State[]): Happening[] {
  const then = new Map(before.map((state) => [state.id, state]));
  const now = new Set(after.map(({ id }) => id));
  const happened: Happening[] = [];
  for (const state of before) if (!now.has(state.id)) happened.push({ removed: eventOf(state) });
  for (const state of after) {
    const old = then.get(state.id);
    if (old === state) continue;
    const event = eventOf(state);
    if (old === undefined) happened.push({ saved: event });
    else {
      if (old.description !== state.description) happened.push({ described: event });
      if (old.pinned !== state.pinned) happened.push(state.pinned ? { pinned: event } : { unpinned: event });
    }
  }
  return happened;
}

/** What people wrote about a state is not told: everybody may watch. */
function eventOf({ id, name, machine, kind, user = '', automatic, imported }: State): StateEvent {
  return { id, name, machine, kind, user, automatic, imported: imported !== undefined };
}

function ofMachines(before: readonly Machine[], after: readonly Machine[]): Happening[] {
  const then = new Map(before.map((machine) => [machine.id, JSON.stringify(machine)]));
  const now = new Map(after.map((machine) => [machine.id, JSON.stringify(machine)]));
  const ids = new Set([...then.keys(), ...now.keys()]);
  return [...ids].filter((id) => then.get(id) !== now.get(id)).map((id) => ({ machine: { id } }));
}

function ofHomes({ homes: before }: Model, { homes: after }: Model): Happening[] {
  const then = new Map(before.map((home) => [home.user, JSON.stringify(home)]));
  const now = new Map(after.map((home) => [home.user, JSON.stringify(home)]));
  const users = new Set([...then.keys(), ...now.keys()]);
  return [...users].filter((user) => then.get(user) !== now.get(user)).map((user) => ({ home: { user } }));
}
