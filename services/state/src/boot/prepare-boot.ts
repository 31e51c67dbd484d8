import type { Call, Context } from '../context.ts';
import { stillStartedOnce } from '../failures-extras.ts';
import { type Machine, type Preparation, type State, storageName } from '../model/model.ts';
import { type PrepareBootPlan, planPrepareBoot } from '../rules/boot/boot-plan.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import type { SaveRequest } from '../rules/states/save-plan.ts';
import { saveStates, saveWithoutLimit } from '../states/save-states.ts';
import { forgetOnce } from './boot-once.ts';
import { markMachine } from './mark-machine.ts';

/**
 * Makes the storage agree with what is booted: goes back to the state that the command line names, after saving what is there
 * as an automatic state. What was interrupted goes on at the next call, which saves what is there by then as well.
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

const AUTOMATIC: SaveRequest = { stateName: '', autosave: true, user: undefined };

type Saved = readonly [State, ...State[]];
type Revert = Extract<PrepareBootPlan, { do: 'revert' }>;

async function revert(plan: Revert, machine: Machine, call: Call, context: Context): Promise<void> {
  const { state, users, begun } = plan;
  const wanted = plan.states.flatMap(({ members }) => members);
  const present =
    begun === undefined ? await saveBefore(machine, call, context) : await saveSince(machine, call, context);
  const saved = begun?.saved ?? present?.[0].name ?? '';
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
  const members = (present ?? []).flatMap((each) => each.members);
  const problems = await context.storage.revert(wanted, members, call.progress);
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
function saveBefore(machine: Machine, call: Call, context: Context): Promise<Saved> {
  const there = { ...machine, datasets: machine.before ?? machine.datasets };
  return saveStates(there, AUTOMATIC, call, context);
}

/**
 * The same for what is there when an interrupted way back goes on: some of it may be as in the state, and the rest is what people
 * worked on meanwhile. Nothing where a machine goes back by being booted, as that overwrites nothing.
 */
async function saveSince(machine: Machine, call: Call, context: Context): Promise<Saved | undefined> {
  if (machine.revertTo !== undefined) return undefined;
  const states = await saveWithoutLimit(machine, AUTOMATIC, call, context);
  call.info(`what was there when it went on is ${states[0].name}`);
  return states;
}
