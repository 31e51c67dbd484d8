import type { Machine, Model, State } from '../src/model/model.ts';

/** A state as rules see it. */
export function aState(given: Partial<State> = {}): State {
  const id = given.id ?? 'id';
  return {
    id,
    kind: given.user === undefined ? 'system' : 'user',
    machine: 'vault:/etc',
    name: `n-${id}`,
    automatic: false,
    pinned: false,
    description: '',
    kernel: '',
    oneInstant: false,
    createdAt: '2026-11-21T10:00:00.000Z',
    members: [],
    ...given,
  };
}

/** The machine that runs. */
export function aMachine(given: Partial<Machine> = {}): Machine {
  return {
    id: 'vault:/etc',
    managed: true,
    current: true,
    bootedState: undefined,
    nextState: undefined,
    prepared: undefined,
    kernel: '',
    lastUsedAt: undefined,
    datasets: [],
    ...given,
  };
}

/** A model of the machine that runs. */
export function aModel(given: Partial<Model> = {}): Model {
  return { machines: [aMachine()], homes: [], states: [], removing: new Set(), ...given };
}
