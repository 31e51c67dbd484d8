import type { Machine, Model, State } from '../model/model.ts';
import type { DumpedStorage } from '../rules/dump.ts';

/** A dump, as far as the client reads it; `docs/api/state.md` has all of it. */
interface Dump {
  readonly version: number;
  readonly storage: DumpedStorage;
  readonly machines: readonly (Omit<Machine, 'bootedState'> & {
    readonly bootedState: string | null;
    readonly states: readonly (Omit<State, 'machine'> & { readonly removing: boolean })[];
  })[];
}

/** What DumpStates sent, as a document and as the model the rules work on. */
export function readDump(text: string): { dump: Dump; model: Model } {
  const dump = JSON.parse(text) as Dump;
  const states = dump.machines.flatMap((machine) =>
    machine.states.map((state) => ({ ...state, machine: machine.id })),
  );
  const machines = dump.machines.map((machine) => ({
    ...machine,
    bootedState: machine.bootedState ?? undefined,
  }));
  const removing = new Set(states.filter((state) => state.removing).map(({ id }) => id));
  return { dump, model: { machines, states, removing } };
}
