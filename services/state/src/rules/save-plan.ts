import { machineNotManaged, notEnoughSpace, stateExists } from '../failures.ts';
import type { Dataset, Machine, Model } from '../model/model.ts';
import type { RequestOf } from '../wire.ts';
import { sizeText } from './sizes.ts';
import { automaticName, checkTypedName } from './state-name.ts';

/** The space of a file system or pool that a save writes to. */
export interface Pool {
  readonly name: string;
  readonly size: number;
  readonly free: number;
}

/** What a save will do. */
export interface SavePlan {
  readonly id: string;
  readonly name: string;
  readonly automatic: boolean;
  readonly machine: string;
  readonly createdAt: string;
  readonly datasets: readonly Dataset[];
  /** Bytes that may be written before the pools' limit is reached. */
  readonly budget: number;
}

/** What chance and the clock decide, decided before. */
interface SaveChoices {
  readonly id: string;
  readonly now: Date;
  /** Random bytes of names to try, the first free one wins. */
  readonly randomNames: readonly Uint8Array[];
}

/** What can be said without looking at the storage; throws before anything waits or is touched. */
export function checkSaveRequest(request: RequestOf<'SaveSystemState'>, machine: Machine): 'save' | 'skip' {
  checkTypedName(request.stateName);
  if (machine.managed) return 'save';
  // The package manager's hook saves before every change, on every host: there it must not fail.
  if (request.autosave) return 'skip';
  throw machineNotManaged();
}

/** Decides a save of the machine's system, or refuses it. */
export function planSave(
  model: Model,
  machine: Machine,
  request: RequestOf<'SaveSystemState'>,
  pools: readonly Pool[],
  minFreePercent: number,
  choices: SaveChoices,
): SavePlan {
  const taken = new Set(
    model.states.filter((state) => state.machine === machine.id).map((state) => state.name),
  );
  if (request.stateName !== '' && taken.has(request.stateName)) {
    throw stateExists(request.stateName, machine.id);
  }
  return {
    id: choices.id,
    name: request.stateName || freeName(choices.randomNames, taken, machine.id),
    automatic: request.autosave || request.stateName === '',
    machine: machine.id,
    createdAt: choices.now.toISOString(),
    datasets: machine.datasets.filter(({ role }) => role === 'system' || role === 'boot'),
    budget: Math.min(...pools.map((pool) => spaceAboveLimit(pool, minFreePercent))),
  };
}

function freeName(random: readonly Uint8Array[], taken: ReadonlySet<string>, machine: string): string {
  const names = random.map(automaticName);
  const free = names.find((name) => !taken.has(name));
  if (free === undefined) throw stateExists(names.at(-1) ?? '', machine);
  return free;
}

/** More than the limit must be free, so that at the limit itself nothing more is written. */
function spaceAboveLimit(pool: Pool, minFreePercent: number): number {
  const needed = Math.ceil((pool.size * minFreePercent) / 100);
  if (pool.free <= needed) {
    throw notEnoughSpace(
      pool.name,
      `${sizeText(pool.free)} (${Math.floor((pool.free / pool.size) * 100)} %)`,
      `more than ${sizeText(needed)} (${minFreePercent} %)`,
    );
  }
  return pool.free - needed;
}
