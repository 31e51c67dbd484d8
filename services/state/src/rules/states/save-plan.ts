import { machineNotManaged, notEnoughSpace, stateExists, userNotFound } from '../../failures.ts';
import { type Dataset, datasetsOf, type Machine, type Model, type State } from '../../model/model.ts';
import { sizeText } from '../machines/sizes.ts';
import { automaticName, checkTypedName } from './state-name.ts';

/** The space of a file system or pool that a save writes to. */
export interface Pool {
  readonly name: string;
  readonly size: number;
  readonly free: number;
  /** Whether a dataset, by its name, lies in it; undefined where all of the storage do. */
  readonly holds?: (dataset: string) => boolean;
}

/** Those that any of these datasets lies in. @param datasets their names */
export function poolsOf(pools: readonly Pool[], datasets: readonly string[]): readonly Pool[] {
  return pools.filter(({ holds }) => holds === undefined || datasets.some(holds));
}

/** What is to be saved: a machine with its homes, or one user's home. */
export interface SaveRequest {
  /** Empty for a generated one. */
  readonly stateName: string;
  readonly autosave: boolean;
  /** Only this user's home; undefined for the whole machine. */
  readonly user: string | undefined;
}

/** A state that a save will make. */
export type PlannedState = Omit<State, 'members' | 'oneInstant'>;

/** What a save will make of which datasets. */
export interface PlannedSave {
  /** The system state and one for each of its users, or one user's. */
  readonly states: readonly PlannedState[];
  readonly datasets: readonly Dataset[];
}

/** What a save will do. */
export interface SavePlan extends PlannedSave {
  /** Id of the first state, by which the storage knows the save. */
  readonly id: string;
  readonly name: string;
  /** Bytes that may be written before the pools' limit is reached. */
  readonly budget: number;
}

/** What chance and the clock decide, decided before. */
interface SaveChoices {
  /** A new id each time. */
  readonly newId: () => string;
  readonly now: Date;
  /** Random bytes of names to try, the first free one wins. */
  readonly randomNames: readonly Uint8Array[];
}

/** What can be said without looking at the storage; throws before anything waits or is touched. */
export function checkSaveRequest(request: SaveRequest, machine: Machine): 'save' | 'skip' {
  checkTypedName(request.stateName);
  if (machine.managed) return 'save';
  // The package manager's hook saves before every change, on every host: there it must not fail.
  if (request.autosave) return 'skip';
  throw machineNotManaged();
}

/**
 * What a save takes, and the names that it cannot have.
 * @throws NOT_FOUND, ALREADY_EXISTS
 */
export function checkSaveTarget(
  model: Model,
  machine: Machine,
  { user, stateName }: SaveRequest,
): { datasets: readonly Dataset[]; taken: ReadonlySet<string> } {
  const datasets = datasetsOf(model, machine).filter(
    (dataset) => user === undefined || dataset.user === user,
  );
  if (datasets.length === 0) throw userNotFound(user ?? '', machine.id);
  if (stateName !== '') checkNameFree(model, machine, user, stateName);
  return { datasets, taken: new Set(namesakes(model, machine, user).map(({ name }) => name)) };
}

/** Decides a save, or refuses it. */
export function planSave(
  model: Model,
  machine: Machine,
  request: SaveRequest,
  pools: readonly Pool[],
  minFreePercent: number,
  choices: SaveChoices,
): SavePlan {
  const { user } = request;
  const { datasets, taken } = checkSaveTarget(model, machine, request);
  const name = request.stateName || freeName(choices.randomNames, taken, machine.id);
  const id = choices.newId();
  const common = {
    machine: machine.id,
    name,
    automatic: request.autosave || request.stateName === '',
    pinned: false,
    description: '',
    kernel: machine.kernel,
    createdAt: choices.now.toISOString(),
  };
  const newest = newestOf(model, machine, user);
  const after = newest !== undefined && newest.createdAt > common.createdAt ? { after: newest.id } : {};
  const users = [...new Set(datasets.flatMap((dataset) => dataset.user ?? []))];
  const states: PlannedState[] =
    user === undefined
      ? [
          { id, kind: 'system', ...common, ...after },
          ...users.map((each) => ({
            id: choices.newId(),
            kind: 'user' as const,
            user: each,
            system: id,
            ...common,
          })),
        ]
      : [{ id, kind: 'user', user, ...common, ...after }];
  return { id, name, states, datasets, budget: spaceToWrite(pools, minFreePercent) };
}

/** Bytes that may be written before the pools' limit is reached; without pools any number. @throws RESOURCE_EXHAUSTED when it is already */
export function spaceToWrite(pools: readonly Pool[], minFreePercent: number): number {
  return Math.min(...pools.map((pool) => spaceAboveLimit(pool, minFreePercent)));
}

/** @throws ALREADY_EXISTS, which says whose state has the name: it is not among those of the system that are listed first */
export function checkNameFree(model: Model, machine: Machine, user: string | undefined, name: string): void {
  const others = namesakes(model, machine, user).filter((state) => state.name === name);
  // With a state of the system those of its users go, too.
  const other = others.find(({ kind }) => kind === 'system') ?? others[0];
  if (other !== undefined) throw stateExists(name, machine.id, other.user);
}

/** A save of the machine is also one of each user, so it needs a name that none of these states has. */
function namesakes(model: Model, machine: Machine, user: string | undefined): readonly State[] {
  return model.states.filter(
    (state) =>
      state.machine === machine.id && (user === undefined || state.kind === 'system' || state.user === user),
  );
}

/** Of the machine's states, or of those that a user saved himself. */
function newestOf({ states }: Model, machine: Machine, user: string | undefined): State | undefined {
  return states
    .filter((state) => state.machine === machine.id && state.user === user && state.system === undefined)
    .reduce<State | undefined>(
      (last, state) => (last && last.createdAt >= state.createdAt ? last : state),
      undefined,
    );
}

function freeName(random: readonly Uint8Array[], taken: ReadonlySet<string>, machine: string): string {
  const names = random.map(automaticName);
  const free = names.find((name) => !taken.has(name));
  if (free === undefined) throw stateExists(names.at(-1) ?? '', machine);
  return free;
}

/** More than the limit must be free, so that at the limit itself nothing more is written. */
export function isShortOfSpace(pool: Pool, minFreePercent: number): boolean {
  return pool.free <= limitOf(pool, minFreePercent);
}

function limitOf(pool: Pool, minFreePercent: number): number {
  return Math.ceil((pool.size * minFreePercent) / 100);
}

function spaceAboveLimit(pool: Pool, minFreePercent: number): number {
  const needed = limitOf(pool, minFreePercent);
  if (isShortOfSpace(pool, minFreePercent)) {
    throw notEnoughSpace(
      pool.name,
      `${sizeText(pool.free)} (${Math.floor((pool.free / pool.size) * 100)} %)`,
      `more than ${sizeText(needed)} (${minFreePercent} %)`,
    );
  }
  return pool.free - needed;
}
