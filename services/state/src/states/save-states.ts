import { randomBytes, randomUUID } from 'node:crypto';
import type { Call, Context } from '../context.ts';
import { isPartial, type Machine, type State } from '../model/model.ts';
import type { Snapshot } from '../outside/storage/storage.ts';
import { counted, sizeText } from '../rules/machines/sizes.ts';
import {
  checkSaveTarget,
  isShortOfSpace,
  type PlannedSave,
  type Pool,
  planSave,
  poolsOf,
  type SavePlan,
  type SaveRequest,
  spaceToWrite,
} from '../rules/states/save-plan.ts';
import { makeRoom } from './collect-garbage.ts';

/** So many generated names are tried; with 2 billion of them the second is hardly ever needed. */
const NAME_ATTEMPTS = 5;
/** What an import writes before it looks again at what is free. */
const UNSEEN_BYTES = 4 * 1024 * 1024;

/** Saves a machine or one user's home, for whoever has the machine's turn. @returns the states, the one asked for first */
export async function saveStates(
  machine: Machine,
  request: SaveRequest,
  call: Call,
  context: Context,
): Promise<readonly [State, ...State[]]> {
  // Before anything is removed for it.
  const { datasets } = checkSaveTarget(context.index.model, machine, request);
  const names = datasets.map(({ name }) => name);
  // What lies elsewhere may be full: nothing is written there.
  let pools = poolsOf(await context.storage.space(), names);
  if (pools.some((pool) => isShortOfSpace(pool, context.minFree))) {
    await makeRoom(machine, call, context, names);
    pools = poolsOf(await context.storage.space(), names);
  } else context.fruitless.forget(pools);
  return saveIn(pools, machine, request, call, context);
}

/** The same as long as anything can be written: for what must not stop half way, and would lose what is not saved. */
export function saveWithoutLimit(
  machine: Machine,
  request: SaveRequest,
  call: Call,
  context: Context,
): Promise<readonly [State, ...State[]]> {
  return saveIn([], machine, request, call, context);
}

/** @param pools those that keep their reserve */
function saveIn(
  pools: readonly Pool[],
  machine: Machine,
  request: SaveRequest,
  call: Call,
  context: Context,
): Promise<readonly [State, ...State[]]> {
  const plan = planSave(context.index.model, machine, request, pools, context.minFree, {
    newId: randomUUID,
    now: context.clock.now(),
    randomNames: Array.from({ length: NAME_ATTEMPTS }, () => randomBytes(6)),
  });
  const names = plan.datasets.map(({ name }) => name);
  const checkSpace = pools.length === 0 ? undefined : () => checkReserve(names, context);
  return execute(plan, checkSpace, call, context);
}

/** Others write while a save does, and what an import has taken meanwhile the save was promised. @throws RESOURCE_EXHAUSTED */
async function checkReserve(
  names: readonly string[],
  { storage, incoming, minFree }: Context,
): Promise<void> {
  const left = async () => spaceToWrite(poolsOf(await storage.space(), names), minFree);
  try {
    if ((await left()) >= UNSEEN_BYTES || !incoming.isOpen) return;
  } catch (error) {
    if (!incoming.isOpen) throw error;
  }
  await incoming.giveWay();
  await left();
}

/** Intent, snapshots, completion mark, record: whatever breaks before the mark leaves nothing, after it whole states. */
async function execute(
  plan: SavePlan,
  checkSpace: (() => Promise<void>) | undefined,
  call: Call,
  context: Context,
): Promise<readonly [State, ...State[]]> {
  const { index, storage } = context;
  // Without that nothing can be completed but what has its mark.
  const { states: planned, datasets } = plan;
  await index.beginSave(plan.id, storage.recover === undefined ? undefined : { states: planned, datasets });
  call.info(`saving ${plan.name}: ${plan.datasets.map(({ name, path }) => `${name} ${path}`).join(', ')}`);
  let states: readonly State[];
  try {
    const snapshot = await storage.snapshotGroup({
      id: plan.id,
      name: plan.name,
      datasets: plan.datasets,
      budget: plan.budget,
      checkSpace,
      signal: call.signal,
      report: call.warning,
      progress: call.progress,
    });
    call.signal.throwIfAborted();
    states = statesOf(plan, snapshot);
    await storage.complete(states);
  } catch (error) {
    await undoSave(plan.id, context);
    throw error;
  }
  await recorded(plan.id, states, context);
  for (const { dataset, entries, bytes } of states.flatMap(({ members }) => members)) {
    // A snapshot is made without looking at what is in it.
    const size = entries === 0 ? '' : `: ${counted(entries, 'entry', 'entries')}, ${sizeText(bytes)}`;
    call.info(`saved ${dataset}${size}`);
  }
  if (states.some(isPartial))
    call.warning(`${plan.name} is partial: see the lines above for what is missing or inconsistent`);
  return states as readonly [State, ...State[]];
}

/** Each user's state has the members that are his, the system state all others. */
export function statesOf(plan: PlannedSave, { members, oneInstant }: Snapshot): readonly State[] {
  return plan.states.map((state) => ({
    ...state,
    oneInstant,
    members: members.filter(({ user }) => user === state.user),
  }));
}

/** The intent is forgotten only when nothing is left; otherwise the next start clears it away. */
export async function undoSave(id: string, { index, storage, log }: Context): Promise<void> {
  try {
    await storage.discard(id);
    await storage.collect();
    await index.undone(id);
  } catch (error) {
    log.error(
      { err: error, state: id },
      'an interrupted save could not be cleared away; the next start will',
    );
  }
}

/**
 * A save has its mark. A journal that cannot be written to does not make a complete state incomplete. Where a power cut may still take
 * the mark, that it ended is written down later, and nobody waits for it: what was begun says how to complete it.
 */
export async function recorded(
  id: string,
  states: readonly State[],
  { index, storage, log }: Context,
): Promise<void> {
  const written = index
    .saved(id, states, storage.lasting?.bind(storage))
    .catch((error) =>
      log.error(
        { err: error, save: id },
        'that a save ended could not be written down; the storage has the state',
      ),
    );
  if (storage.lasting === undefined) await written;
}
