import { randomUUID } from 'node:crypto';
import type { Call, Context } from '../context.ts';
import { stillStartedOnce } from '../failures-extras.ts';
import {
  datasetsOf,
  type Machine,
  type Member,
  type Preparation,
  type State,
  storageName,
} from '../model/model.ts';
import { type PrepareBootPlan, planPrepareBoot } from '../rules/boot/boot-plan.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { saveStates } from '../states/save-states.ts';
import { forgetOnce } from './boot-once.ts';
import { markMachine } from './mark-machine.ts';

/**
 * Makes the storage agree with what is booted: goes back to the state that the command line names, after saving what is there
 * as an automatic state. What was interrupted goes on at the next call.
 * @returns whether anything was switched
 */
export async function prepareBoot(call: Call, context: Context): Promise<boolean> {
  const { index, boot, turns } = context;
  const { id } = currentMachine(index.model);
  return await turns.take(id, call.operation, call.signal, async () => {
    const machine = currentMachine(index.model);
    const plan = planPrepareBoot(index.model, machine, boot.commandLine, boot.id);
    if (plan.do === 'nothing') {
      call.info(`nothing to prepare: ${plan.why}`);
      if (plan.missed !== undefined) await giveUp(plan.missed, machine, call, context);
      return machine.managed && (await context.storage.settleBoot?.()) === true;
    }
    await revert(plan, machine, call, context);
    return true;
  });
}

/** The boot loader started something else than the state that it was asked for; a later boot must not take that for its own. */
async function giveUp(
  missed: string,
  { id, nextRevert }: Machine,
  call: Call,
  context: Context,
): Promise<void> {
  const why = await forgetOnce(nextRevert?.loaders, context);
  if (why !== undefined) {
    call.warning(stillStartedOnce(why).message);
    return;
  }
  await markMachine(context, id, { nextState: undefined, nextRevert: undefined });
  call.warning(`this boot was to go back to ${missed} and did not: ask again, or choose it in the boot menu`);
}

type Revert = Extract<PrepareBootPlan, { do: 'revert' }>;

async function revert(plan: Revert, machine: Machine, call: Call, context: Context): Promise<void> {
  const { state, users, begun } = plan;
  const wanted = plan.states.flatMap(({ members }) => members);
  const before = begun === undefined ? await saveBefore(machine, call, context) : undefined;
  const saved = begun?.saved ?? before?.[0].name ?? '';
  const preparation: Preparation = {
    boot: context.boot.id,
    state: state.id,
    saved,
    users,
    done: false,
    committed: false,
  };
  await markMachine(context, machine.id, { prepared: preparation });
  call.info(`going back to ${storageName(state)}`);
  // From here on it is carried through: half of two states is none of them.
  const problems =
    before === undefined
      ? await revertInterrupted(wanted, machine, call, context)
      : await context.storage.revert(
          wanted,
          before.flatMap(({ members }) => members),
          call.progress,
        );
  for (const problem of problems) call.warning(problem);
  await markMachine(context, machine.id, {
    prepared: { ...preparation, done: true },
    nextState: undefined,
    nextRevert: undefined,
  });
  // Another root may run now, and homes may lie elsewhere.
  if (machine.revertTo !== undefined) {
    context.index.found(await context.storage.scan());
    // One that did not start this boot may have been asked as well.
    const why = await forgetOnce(machine.nextRevert?.loaders, context);
    if (why !== undefined)
      call.warning(
        `the boot loader may start a state at the next boot, too: ${why}. CancelRevert prevents that`,
      );
  }
  call.info(`this machine is as it was in ${storageName(state)}; what was there before is ${saved}`);
}

/** What is there now, as states to come back to; what they hold also tells what differs. */
function saveBefore(machine: Machine, call: Call, context: Context): Promise<readonly [State, ...State[]]> {
  const there = { ...machine, datasets: machine.before ?? machine.datasets };
  return saveStates(there, { stateName: '', autosave: true, user: undefined }, call, context);
}

/** What is there now is neither of two states: a snapshot tells what differs, and goes again. */
async function revertInterrupted(
  wanted: readonly Member[],
  machine: Machine,
  call: Call,
  context: Context,
): Promise<readonly string[]> {
  const { storage, index } = context;
  const id = randomUUID();
  const names = new Set(wanted.map(({ dataset }) => dataset));
  const datasets = datasetsOf(index.model, machine).filter(({ name }) => names.has(name));
  await index.beginSave(id);
  try {
    const budget = Number.POSITIVE_INFINITY;
    const signal = new AbortController().signal;
    const { debug: report, progress } = call;
    const { members } = await storage.snapshotGroup({ id, datasets, budget, signal, report, progress });
    return await storage.revert(wanted, members, progress);
  } finally {
    await storage.discard(id);
    await storage.collect();
    await index.undone(id);
  }
}
