import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { collectionIncomplete } from '../failures.ts';
import { type Machine, type State, savedWith, storageName } from '../model/model.ts';
import { counted } from '../rules/machines/sizes.ts';
import { isClockDoubted, planCollection, planForSpace } from '../rules/states/gc-plan.ts';
import { isShortOfSpace, type Pool, poolsOf } from '../rules/states/save-plan.ts';
import type { RequestOf } from '../wire.ts';
import { freeContent, haveDependants, removeStates } from './remove-states.ts';

/** So many in a row of which the storage cannot tell who needs them, and it tells nothing of the others: each may take it minutes. */
const UNTOLD = 2;

/**
 * Removes the states that the policy does not keep, then more automatic ones while a pool is short of space. What cannot be
 * removed is told and left; the others go all the same.
 */
export async function collectGarbage({ all }: RequestOf<'GC'>, call: Call, context: Context): Promise<void> {
  const { index, policy, clock } = context;
  let removed = 0;
  let failed = 0;
  if (isClockDoubted(index.model, clock.now()))
    call.warning(
      `the clock says ${clock.now().toISOString()}, a year or more after states were saved before: until it is put right, or states of a week are there, none is removed by its age`,
    );
  for (const machine of index.model.machines.filter(({ away }) => away !== true)) {
    await context.turns.take(machine.id, call.operation, call.signal, async () => {
      const ofMachine = ({ machine: id }: State) => id === machine.id;
      let here = 0;
      let untold = 0;
      try {
        // Planned when it is our turn, and carried out before anybody else's.
        for (const state of planCollection(index.model, policy.policy, clock.now(), all).filter(ofMachine)) {
          call.signal.throwIfAborted();
          const needed = await isNeeded(state, call, context);
          if (needed === undefined) failed++;
          untold = needed === undefined ? untold + 1 : 0;
          if (untold === UNTOLD) break;
          if (needed !== false) continue;
          if (await wasRemoved(state, call, context, { collect: false })) here++;
          else failed++;
        }
      } finally {
        // Also when the caller goes away: what is removed takes no room and is in no menu.
        if (here > 0) await freeContent(call, context);
        if (here > 0) await refreshMenu(call, context, { make: false });
      }
      const forSpace = await makeRoom(machine, call, context);
      removed += here + forSpace.removed;
      failed += forSpace.failed;
    });
  }
  call.info(removed === 0 ? 'there was nothing to remove' : `removed ${counted(removed, 'state')}`);
  if (failed > 0) throw collectionIncomplete(failed);
}

/**
 * Removes automatic states, oldest first, until every pool has the space that a save needs, for whoever has the machine's turn. Those that
 * have nothing in a pool which is short stay.
 * @param datasets names of those that are to be saved, where only their pools matter
 * @returns how many were removed, and how many could not be
 */
export async function makeRoom(
  machine: Machine,
  call: Call,
  context: Context,
  datasets?: readonly string[],
): Promise<{ removed: number; failed: number }> {
  let removed = 0;
  let failed = 0;
  let untold = 0;
  const { fruitless } = context;
  const findShort = shortPoolFinder(context, datasets);
  try {
    for (const state of planForSpace(context.index.model, machine)) {
      const wanting = (await findShort()).filter((pool) => !fruitless.areEnough(pool));
      if (wanting.length === 0) break;
      const [short] = poolsOf(wanting, datasetsIn(state, context));
      if (short === undefined) continue;
      call.signal.throwIfAborted();
      const needed = await isNeeded(state, call, context);
      if (needed === undefined) failed++;
      untold = needed === undefined ? untold + 1 : 0;
      if (untold === UNTOLD) break;
      if (needed !== false) continue;
      call.info(`${short.name} is short of space`);
      if (await wasRemoved(state, call, context, { collect: true })) {
        removed++;
        fruitless.add(short);
      } else failed++;
    }
    // The last one may have been what it took.
    if (removed > 0) await findShort();
  } finally {
    if (removed > 0) await refreshMenu(call, context, { make: false });
  }
  return { removed, failed };
}

/** Asks for the pools that are short of space, also when all that was removed has been given back. */
function shortPoolFinder(
  { storage, minFree, fruitless }: Context,
  datasets: readonly string[] | undefined,
): () => Promise<readonly Pool[]> {
  const find = async () => {
    const pools = await storage.space();
    const wanted = datasets === undefined ? pools : poolsOf(pools, datasets);
    const [short = [], others = []] = [true, false].map((isShort) =>
      wanted.filter((pool) => isShortOfSpace(pool, minFree) === isShort),
    );
    fruitless.forget(others);
    return short;
  };
  let isWorthWaiting = storage.awaitFreed !== undefined;
  return async () => {
    const short = await find();
    if (short.length === 0 || !isWorthWaiting) return short;
    // What does not come in one such while is not waited for after each removal.
    isWorthWaiting = (await storage.awaitFreed?.()) === true;
    return await find();
  };
}

/** The datasets that a state, and what goes with it, has something of. */
function datasetsIn(state: State, { index }: Context): readonly string[] {
  return savedWith(index.model.states, state).flatMap(({ members }) => members.map(({ dataset }) => dataset));
}

/** What was made from a state, such as the system that runs, keeps it. @returns undefined when that cannot be told */
async function isNeeded(state: State, call: Call, context: Context): Promise<boolean | undefined> {
  try {
    const needed = await haveDependants(savedWith(context.index.model.states, state), context);
    if (needed) call.debug(`${storageName(state)} stays: something was made from it`);
    return needed;
  } catch (error) {
    tellFailure(error, state, call, context);
    return undefined;
  }
}

async function wasRemoved(
  state: State,
  call: Call,
  context: Context,
  options: { collect: boolean },
): Promise<boolean> {
  try {
    await removeStates([savedWith(context.index.model.states, state)], call, context, options);
    return true;
  } catch (error) {
    tellFailure(error, state, call, context);
    return false;
  }
}

function tellFailure(error: unknown, state: State, call: Call, { log }: Context): void {
  log.error({ err: error, state: state.id }, 'a state could not be collected');
  call.warning(`${storageName(state)} was not removed: ${(error as Error).message}`);
}
