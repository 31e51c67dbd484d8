import type { Removal } from '../rules/states/reconcile.ts';
import type { Journal } from './journal.ts';
import type { Machine, Model, State } from './model.ts';

/** The journal is replaced by a checkpoint when it has so many lines. */
const CHECKPOINT_LINES = 1000;

/** Of states that were saved together, the one that a write of them goes by first. */
type Ids = Removal['ids'];

/** The daemon's memory: an immutable model that requests read, and the journal that makes its changes crash safe. */
export class StateIndex {
  readonly #journal: Journal;
  #model: Model;
  #lines = 0;
  #open = 0;
  #told: (before: Model, after: Model) => void = () => {};
  readonly #uncollected: Ids[] = [];

  constructor(journal: Journal, found: Pick<Model, 'machines' | 'homes' | 'states'>) {
    this.#journal = journal;
    this.#model = freeze({ ...found, removing: new Set() });
  }

  /** The model of this instant. */
  get model(): Model {
    return this.#model;
  }

  /** Whoever is told of each change as it happens; he does not throw. */
  tell(told: (before: Model, after: Model) => void): void {
    this.#told = told;
  }

  /** Before the first step of a save. */
  async beginSave(id: string): Promise<void> {
    await this.#journal.append({ event: 'begun', intent: { do: 'save', id } });
    this.#open++;
  }

  /** The states have their completion mark. They are there even if this cannot be written down. */
  async saved(id: string, states: readonly State[]): Promise<void> {
    this.#change({ states: newestFirst([...states, ...this.#model.states]) });
    await this.#end({ event: 'saved', id, states });
  }

  /** Something else is written down of states. */
  async annotated(states: readonly State[]): Promise<void> {
    const changed = new Map(states.map((state) => [state.id, state]));
    this.#change({ states: this.#model.states.map((state) => changed.get(state.id) ?? state) });
    await this.#write({ event: 'annotated', states });
  }

  /** Nothing is left of a save, or nothing was done of a removal. */
  async undone(id: string, ids: readonly string[] = [id]): Promise<void> {
    this.#change({ removing: without(this.#model.removing, ids) });
    await this.#end({ event: 'undone', id });
  }

  /** Before the first step of a removal, which goes by its first id. When it throws, the states are marked all the same. */
  async beginRemoval({ ids, dependants }: Removal): Promise<void> {
    this.#open++;
    this.#change({ removing: new Set([...this.#model.removing, ...ids]) });
    await this.#journal.append({ event: 'begun', intent: { do: 'remove', id: ids[0], ids, dependants } });
  }

  /** Some states of a removal are gone, and it stays begun: the next start finishes it. */
  partlyRemoved(ids: readonly string[]): void {
    const gone = new Set(ids);
    const states = this.#model.states.filter(({ id }) => !gone.has(id));
    this.#change({
      states,
      machines: worthKnowing(this.#model.machines, states),
      removing: without(this.#model.removing, ids),
    });
  }

  /** The states are gone. @param collected what only they used is gone, too; else the removal ends with {@link collected} */
  async removed(ids: Ids, { collected }: { collected: boolean }): Promise<void> {
    this.partlyRemoved(ids);
    if (collected) await this.#end({ event: 'removed', id: ids[0], ids });
    else this.#uncollected.push(ids);
  }

  /** Nothing is left of what was removed; until this is written down, the next start looks for it. */
  async collected(): Promise<void> {
    for (const ids of this.#uncollected.splice(0)) await this.#end({ event: 'removed', id: ids[0], ids });
  }

  /** What the storage says of machines and homes, which only it remembers. */
  found({ machines, homes }: Pick<Model, 'machines' | 'homes'>): void {
    this.#change({ machines: worthKnowing(machines, this.#model.states), homes });
  }

  /** The storage was read again. Only while no write is under way. */
  async refreshed(found: Pick<Model, 'machines' | 'homes' | 'states'>): Promise<void> {
    this.#change({ ...found, machines: worthKnowing(found.machines, found.states) });
    // A removal that waits for the next start has its intent in the journal.
    if (this.#open === 0) await this.#checkpoint();
  }

  /** Leaves a checkpoint, unless a write is under way whose intent must stay. */
  async close(): Promise<void> {
    // On a full disk the journal is as good: it only takes longer to read.
    if (this.#open === 0) await this.#checkpoint().catch(() => {});
    await this.#journal.close();
  }

  async #end(entry: Parameters<Journal['append']>[0]): Promise<void> {
    this.#open--;
    await this.#write(entry);
  }

  async #write(entry: Parameters<Journal['append']>[0]): Promise<void> {
    await this.#journal.append(entry);
    if (++this.#lines < CHECKPOINT_LINES || this.#open > 0) return;
    await this.#checkpoint();
  }

  async #checkpoint(): Promise<void> {
    this.#lines = 0;
    await this.#journal.writeCheckpoint(this.#model.states);
  }

  #change(changes: Partial<Model>): void {
    const before = this.#model;
    this.#model = freeze({ ...before, ...changes });
    this.#told(before, this.#model);
  }
}

/** A machine that is not the current one is known by its states. */
export function worthKnowing(machines: readonly Machine[], states: readonly State[]): readonly Machine[] {
  const withStates = new Set(states.map(({ machine }) => machine));
  return machines.filter(({ id, current, lasting }) => current || lasting || withStates.has(id));
}

/** What was saved together stays in its order. */
function newestFirst(states: readonly State[]): readonly State[] {
  return states.toSorted((a, b) => (a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? 1 : -1));
}

function freeze(model: Model): Model {
  for (const list of [model.machines, model.homes, model.states]) Object.freeze(list);
  return Object.freeze(model);
}

function without(ids: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  const left = new Set(ids);
  for (const id of gone) left.delete(id);
  return left;
}
