import type { Home, Machine, Model, State } from '../../model/model.ts';
import type { DumpedStorage } from '../../rules/machines/dump.ts';

/** A dump, as far as the client reads it; `docs/api/state.md` has all of it. */
interface Dump {
  readonly version: number;
  readonly storage: DumpedStorage;
  readonly machines: readonly (Machine & {
    readonly states: readonly (Omit<State, 'machine'> & { readonly removing: boolean })[];
  })[];
  readonly homes: readonly Home[];
}

/** A dump as it is. */
interface Document {
  readonly machines: readonly { readonly id: string; readonly states: readonly unknown[] }[];
  readonly homes: readonly unknown[];
}

/** What DumpStates sent for a program: with all that `docs/api/state.md` says, what is not known among it. */
export function documentOf(text: string): Document {
  return JSON.parse(text) as Document;
}

/** What DumpStates sent, as a document and as the model the rules work on. */
export function readDump(text: string): { dump: Dump; model: Model } {
  // A fact that is not known is null there and missing here.
  const dump = JSON.parse(text, (_key, value) => (value === null ? undefined : value)) as Dump;
  const states = dump.machines.flatMap((machine) =>
    machine.states.map((state) => ({ ...state, machine: machine.id })),
  );
  const removing = new Set(states.filter((state) => state.removing).map(({ id }) => id));
  return { dump, model: { machines: dump.machines, homes: dump.homes, states, removing } };
}
