import { addIntent, type Intent, type Removal } from '../rules/states/reconcile.ts';
import type { PlannedSave } from '../rules/states/save-plan.ts';
import type { Journal } from './journal.ts';
import type { Machine, Model, State } from './model.ts';

/** The journal is replaced by a checkpoint when it has so many lines. */
const CHECKPOINT_LINES = 1000;

type Ending = Extract<Parameters<Journal['append']>[0], { readonly id: string }>;

type AskStamp = () => Promise<string | undefined>;

/** Of states that were saved together, the one that a write of them goes by first. */
type Ids = Removal['ids'];

/** The daemon's memory: an immutable model that requests read, and the journal that makes its changes crash safe. */
export class StateIndex {
  readonly #journal: Journal;
  #model: Model;
  #lines = 0;
  /** Writes that were begun and have not ended, by their ids. */
  readonly #open = new Map<string, Intent>();
  #told: (before: Model, after: Model) => void = () => {};
  readonly #uncollected: Ids[] = [];
  /** What is written down as soon as it lasts. */
  readonly #endings = new Set<Promise<void>>();

  /**
   * @param removals that wait for somebody to ask again, or for the next start; they are written down already
   * @param saves that wait for the next start
   */
  constructor(
    journal: Journal,
    found: Pick<Model, 'machines' | 'homes' | 'states'>,
    removals: readonly Removal[],
    saves: readonly Intent[] = [],
  ) {
    this.#journal = journal;
    for (const intent of [...removals.map(intentOf), ...saves]) addIntent(this.#open, intent);
    const removing = new Set(removals.flatMap(({ ids }) => ids));
    this.#model = freeze({ ...found, removing, removals: this.#removals() });
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
  async beginSave(id: string, plan?: PlannedSave): Promise<void> {
    const intent: Intent = { do: 'save', id, ...(plan === undefined ? {} : { plan }) };
    // A checkpoint that is written meanwhile has it.
    addIntent(this.#open, intent);
    await this.#journal.append({ event: 'begun', intent }).catch((error) => {
      this.#open.delete(id);
      throw error;
    });
  }

  /**
   * The states have their completion mark. They are there even if this cannot be written down.
   * @param lasting waits until they last, and until then it stays begun; it ends at once when there is none
   */
  async saved(id: string, states: readonly State[], lasting?: () => Promise<void>): Promise<void> {
    this.#change({ states: newestFirst([...states, ...this.#model.states]) });
    await this.#end({ event: 'saved', id, states }, lasting?.());
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

  /**
   * Before the first step of a removal, which goes by its first id; it takes the place of those that stopped and had some of its
   * states. When it throws, the states are marked all the same, and it may be called again.
   */
  async beginRemoval(removal: Removal): Promise<void> {
    // A save goes by the same id: the line that it ended would end this.
    await Promise.allSettled(this.#endings);
    const intent = intentOf(removal);
    addIntent(this.#open, intent);
    this.#change({ removing: new Set([...this.#model.removing, ...removal.ids]) });
    await this.#journal.append({ event: 'begun', intent });
  }

  /** Some states of a removal are gone, and it stays begun: who asks again, or the next start, finishes it. */
  partlyRemoved(ids: readonly string[]): void {
    const gone = new Set(ids);
    const states = this.#model.states.filter(({ id }) => !gone.has(id));
    this.#change({
      states,
      machines: worthKnowing(this.#model.machines, states),
      removing: without(this.#model.removing, ids),
    });
  }

  /** The states are gone; the removal ends with {@link collected}. */
  removed(ids: Ids): void {
    this.partlyRemoved(ids);
    this.#uncollected.push(ids);
  }

  /**
   * Nothing is left of what was removed; until this is written down, the next start looks for it.
   * @param lasting as for {@link saved}
   */
  async collected(lasting?: () => Promise<void>): Promise<void> {
    const removals = this.#uncollected.splice(0);
    if (removals.length === 0) return;
    const lasted = lasting?.();
    for (const ids of removals) await this.#end({ event: 'removed', id: ids[0], ids }, lasted);
  }

  /** What the storage says of machines and homes, which only it remembers. */
  found({ machines, homes }: Pick<Model, 'machines' | 'homes'>): void {
    this.#change({ machines: worthKnowing(machines, this.#model.states), homes });
  }

  /** The storage was read again. Only while no write is under way. */
  async refreshed(found: Pick<Model, 'machines' | 'homes' | 'states'>): Promise<void> {
    this.#change({ ...found, machines: worthKnowing(found.machines, found.states) });
    await this.checkpoint();
  }

  /** Leaves a checkpoint. @param askStamp as for {@link checkpoint} */
  async close(askStamp?: AskStamp): Promise<void> {
    await Promise.allSettled(this.#endings);
    // On a full disk the journal is as good: it only takes longer to read.
    await this.checkpoint(askStamp).catch(() => {});
    await this.#journal.close();
  }

  /**
   * Replaces the journal by what it adds up to, with what is under way.
   * @param askStamp asks the storage for its stamp; only while no write is under way
   */
  async checkpoint(askStamp?: AskStamp): Promise<void> {
    this.#lines = 0;
    // Without it the next start reads the storage.
    const stamp = await askStamp?.().catch(() => undefined);
    await this.#journal.writeCheckpoint(this.#model.states, [...this.#open.values()], stamp);
  }

  async #end(entry: Ending, lasted?: Promise<void>): Promise<void> {
    if (lasted === undefined) return await this.#forget(entry);
    const ending = lasted.then(() => this.#forget(entry));
    this.#endings.add(ending);
    await ending.finally(() => this.#endings.delete(ending));
  }

  async #forget(entry: Ending): Promise<void> {
    const isRemoval = this.#open.get(entry.id)?.do === 'remove';
    this.#open.delete(entry.id);
    if (isRemoval) this.#change({});
    await this.#write(entry);
  }

  async #write(entry: Parameters<Journal['append']>[0]): Promise<void> {
    await this.#journal.append(entry);
    if (++this.#lines >= CHECKPOINT_LINES) await this.checkpoint();
  }

  #removals(): readonly Ids[] {
    return [...this.#open.values()].flatMap(({ do: what, ids }) => (what === 'remove' && ids ? [ids] : []));
  }

  #change(changes: Partial<Model>): void {
    const before = this.#model;
    this.#model = freeze({ ...before, ...changes, removals: this.#removals() });
    this.#told(before, this.#model);
  }
}

/** A machine that is not the current one is known by its states. */
export function worthKnowing(machines: readonly Machine[], states: readonly State[]): readonly Machine[] {
  const withStates = new Set(states.map(({ machine }) => machine));
  return machines.filter(({ id, current, lasting }) => current || lasting || withStates.has(id));
}

function intentOf({ ids, dependants }: Removal): Intent {
  return { do: 'remove', id: ids[0], ids, dependants };
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
