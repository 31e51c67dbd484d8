import type { Journal } from './journal.ts';
import type { Machine, Model, State } from './model.ts';

/** The journal is replaced by a checkpoint when it has so many lines. */
const CHECKPOINT_LINES = 1000;

/** The daemon's memory: an immutable model that requests read, and the journal that makes its changes crash safe. */
export class StateIndex {
  readonly #journal: Journal;
  #model: Model;
  #lines = 0;
  #open = 0;

  constructor(journal: Journal, machines: readonly Machine[], states: readonly State[]) {
    this.#journal = journal;
    this.#model = freeze(machines, states, new Set());
  }

  /** The model of this instant. */
  get model(): Model {
    return this.#model;
  }

  /** Before the first step of a save. */
  async beginSave(id: string): Promise<void> {
    await this.#journal.append({ event: 'begun', intent: { do: 'save', id } });
    this.#open++;
  }

  /** The state has its completion mark. It is there even if this cannot be written down. */
  async saved(state: State): Promise<void> {
    this.#change([state, ...this.#model.states], this.#model.removing);
    await this.#end({ event: 'saved', state });
  }

  /** Nothing is left of a save, or nothing was done of a removal. */
  async undone(id: string): Promise<void> {
    this.#change(this.#model.states, without(this.#model.removing, id));
    await this.#end({ event: 'undone', id });
  }

  /** Before the first step of a removal. When it throws, the state is marked all the same. */
  async beginRemoval(id: string): Promise<void> {
    this.#open++;
    this.#change(this.#model.states, new Set([...this.#model.removing, id]));
    await this.#journal.append({ event: 'begun', intent: { do: 'remove', id } });
  }

  /** The state is gone. */
  async removed(id: string): Promise<void> {
    const states = this.#model.states.filter((state) => state.id !== id);
    const machines = this.#model.machines.filter(
      (machine) => machine.current || states.some((state) => state.machine === machine.id),
    );
    this.#model = freeze(machines, states, without(this.#model.removing, id));
    await this.#end({ event: 'removed', id });
  }

  /** Leaves a checkpoint, unless a write is under way whose intent must stay. */
  async close(): Promise<void> {
    // On a full disk the journal is as good: it only takes longer to read.
    if (this.#open === 0) await this.#journal.writeCheckpoint(this.#model.states).catch(() => {});
    await this.#journal.close();
  }

  async #end(entry: Parameters<Journal['append']>[0]): Promise<void> {
    this.#open--;
    await this.#journal.append(entry);
    if (++this.#lines < CHECKPOINT_LINES || this.#open > 0) return;
    this.#lines = 0;
    await this.#journal.writeCheckpoint(this.#model.states);
  }

  #change(states: readonly State[], removing: ReadonlySet<string>): void {
    this.#model = freeze(this.#model.machines, states, removing);
  }
}

function freeze(
  machines: readonly Machine[],
  states: readonly State[],
  removing: ReadonlySet<string>,
): Model {
  return Object.freeze({ machines: Object.freeze(machines), states: Object.freeze(states), removing });
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set([...ids].filter((other) => other !== id));
}
