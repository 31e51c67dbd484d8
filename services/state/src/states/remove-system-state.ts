import type { Call, Context } from '../context.ts';
import { findState } from '../rules/find-state.ts';
import { describeStep, planRemoval, type RemoveStep } from '../rules/remove-plan.ts';
import { sizeText } from '../rules/sizes.ts';
import type { RequestOf } from '../wire.ts';

/** Removes a state and the content that only it used; a dry run logs the same steps and takes none. */
export async function removeSystemState(
  request: RequestOf<'RemoveSystemState'>,
  call: Call,
  context: Context,
): Promise<void> {
  const plan = () => planRemoval(context.index.model, request.stateName);
  if (request.dryrun) {
    for (const step of plan().steps) call.info(describeStep(step));
    return;
  }
  const { machine } = findState(context.index.model, request.stateName);
  await context.turns.take(machine, call.operation, call.signal, async () => {
    // Planned again when it is our turn: the writer before may have changed what the name means.
    const { state, steps } = plan();
    await context.index.beginRemoval(state.id).catch(unwritten(context));
    // From here on it is carried through, also when the caller goes away: half a removal helps nobody.
    for (const step of steps) {
      call.info(describeStep(step));
      await execute(step, call, context);
    }
  });
}

async function execute(step: RemoveStep, call: Call, context: Context): Promise<void> {
  const { index, storage, log } = context;
  switch (step.do) {
    case 'destroy':
      return storage.destroy(step.state).catch(async (error) => {
        await index.undone(step.state.id);
        throw error;
      });
    case 'collect':
      try {
        const { objects, bytes } = await storage.collect();
        call.debug(`freed ${objects} objects, ${sizeText(bytes)}`);
      } catch (error) {
        // The state is gone all the same, and the next removal collects what this one leaves.
        log.error({ err: error }, 'content that no state uses could not be freed');
        call.warning(`its content was not freed: ${(error as Error).message}`);
      }
      return;
    case 'forget':
      return index.removed(step.state.id).catch(unwritten(context));
  }
}

/** Removing is how a full disk gets room, so a journal that cannot be written does not stop it: the storage is the truth. */
function unwritten({ log }: Context): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'the journal could not be written');
}
