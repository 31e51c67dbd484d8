import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { needsForce } from '../failures.ts';
import type { State } from '../model/model.ts';
import { findState, type Wanted } from '../rules/find-state.ts';
import { describeStep, planRemoval, type RemoveStep, removalSteps } from '../rules/remove-plan.ts';
import { sizeText } from '../rules/sizes.ts';

/** How a removal is asked for. */
interface Options {
  readonly force: boolean;
  readonly dryrun: boolean;
}

/** Removes the state that goes by a name with what belongs to it; a dry run logs the same steps and takes none. */
export async function removeNamed(
  wanted: Wanted,
  { force, dryrun }: Options,
  call: Call,
  context: Context,
): Promise<void> {
  const plan = () => {
    const planned = planRemoval(context.index.model, wanted, force);
    // The list may be long, and a status is not: it goes before it as lines.
    for (const line of planned.inTheWay) call.info(line);
    if (planned.inTheWay.length > 0) throw needsForce(wanted.name, planned.inTheWay.length);
    return planned;
  };
  if (dryrun) {
    for (const step of plan().steps) call.info(describeStep(step));
    return;
  }
  const { machine } = findState(context.index.model, wanted);
  await context.turns.take(machine, call.operation, call.signal, async () => {
    // Planned when it is our turn: the writer before may have changed what the name means.
    const { states } = plan();
    await removeStates(states, call, context);
    // A menu must not offer what is gone.
    if (wanted.user === undefined) await refreshMenu(call, context, { make: false });
  });
}

/**
 * Removes states that were saved together, for whoever has the machine's turn.
 * @param collect frees their content as well; whoever removes many does that once, as it reads through everything
 */
export async function removeStates(
  states: readonly State[],
  call: Call,
  context: Context,
  { collect }: { collect: boolean } = { collect: true },
): Promise<void> {
  await context.index.beginRemoval(idsOf(states)).catch(unwritten(context));
  // From here on it is carried through, also when the caller goes away: half a removal helps nobody.
  for (const step of removalSteps(states)) {
    if (step.do === 'collect' && !collect) continue;
    call.info(describeStep(step));
    await execute(step, call, context);
  }
}

/** Frees the content that no state uses. */
export async function freeContent(call: Call, context: Context): Promise<void> {
  await execute({ do: 'collect' }, call, context);
}

async function execute(step: RemoveStep, call: Call, context: Context): Promise<void> {
  const { index, storage, log } = context;
  switch (step.do) {
    case 'destroy':
      return storage.destroy(step.states).catch(async (error) => {
        const ids = idsOf(step.states);
        await index.undone(ids[0], ids);
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
      return index.removed(idsOf(step.states)).catch(unwritten(context));
  }
}

function idsOf(states: readonly State[]): readonly [string, ...string[]] {
  return states.map(({ id }) => id) as [string, ...string[]];
}

/** Removing is how a full disk gets room, so a journal that cannot be written does not stop it: the storage is the truth. */
function unwritten({ log }: Context): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'the journal could not be written');
}
