import { randomBytes, randomUUID } from 'node:crypto';
import type { Call, Context } from '../context.ts';
import { isPartial, type State } from '../model/model.ts';
import { currentMachine } from '../rules/find-machine.ts';
import { checkSaveRequest, planSave, type SavePlan } from '../rules/save-plan.ts';
import { sizeText } from '../rules/sizes.ts';
import type { RequestOf } from '../wire.ts';

/** So many generated names are tried; with 2 billion of them the second is hardly ever needed. */
const NAME_ATTEMPTS = 5;

/** Saves the system of the machine that runs. @returns the state's name; empty when an automatic save had nothing to do */
export async function saveSystemState(
  request: RequestOf<'SaveSystemState'>,
  call: Call,
  context: Context,
): Promise<string> {
  const machine = currentMachine(context.index.model);
  if (checkSaveRequest(request, machine) === 'skip') {
    call.info('this machine is not managed, so nothing was saved');
    return '';
  }
  const state = await context.turns.take(machine.id, call.operation, call.signal, async () => {
    const plan = planSave(
      context.index.model,
      machine,
      request,
      await context.storage.space(),
      context.minFree,
      {
        id: randomUUID(),
        now: context.clock.now(),
        randomNames: Array.from({ length: NAME_ATTEMPTS }, () => randomBytes(6)),
      },
    );
    return execute(plan, call, context);
  });
  if (request.updateBootMenu) {
    call.warning('the boot menu was not updated: this version writes none');
  }
  return state.name;
}

/** Intent, snapshots, completion mark, record: whatever breaks before the mark leaves nothing, after it a whole state. */
async function execute(plan: SavePlan, call: Call, context: Context): Promise<State> {
  const { index, storage } = context;
  await index.beginSave(plan.id);
  call.info(`saving ${plan.name}: ${plan.datasets.map(({ name, path }) => `${name} ${path}`).join(', ')}`);
  const { id, machine, name, automatic, createdAt } = plan;
  let state: State;
  try {
    const members = await storage.snapshotGroup({
      id,
      datasets: plan.datasets,
      budget: plan.budget,
      signal: call.signal,
      report: call.warning,
    });
    call.signal.throwIfAborted();
    state = { id, machine, name, automatic, createdAt, members };
    await storage.complete(state);
  } catch (error) {
    await undo(plan, context);
    throw error;
  }
  await recorded(index.saved(state), context, plan.name);
  for (const { dataset, entries, bytes } of state.members) {
    call.info(`saved ${dataset}: ${entries} entries, ${sizeText(bytes)}`);
  }
  if (isPartial(state))
    call.warning(`${name} is partial: see the lines above for what is missing or inconsistent`);
  return state;
}

/** The intent is forgotten only when nothing is left; otherwise the next start clears it away. */
async function undo(plan: SavePlan, { index, storage, log }: Context): Promise<void> {
  try {
    await storage.discard(plan.id);
    await storage.collect();
    await index.undone(plan.id);
  } catch (error) {
    log.error(
      { err: error, state: plan.id },
      'an interrupted save could not be cleared away; the next start will',
    );
  }
}

/** A journal that cannot be written to does not make a complete state incomplete. */
async function recorded(writing: Promise<void>, { log }: Context, name: string): Promise<void> {
  await writing.catch((error) =>
    log.error({ err: error, name }, 'the journal could not be written; the storage has the state'),
  );
}
