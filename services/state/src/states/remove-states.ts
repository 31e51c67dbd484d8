import { Failure } from '@croft/failure';
import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { needsForce, othersDependOnIt } from '../failures.ts';
import { type State, storageName } from '../model/model.ts';
import type { Dependant, Storage } from '../outside/storage/storage.ts';
import { sizeText } from '../rules/machines/sizes.ts';
import { findState, type Wanted } from '../rules/states/find-state.ts';
import {
  describeStep,
  isDependant,
  ownerOf,
  planRemoval,
  type RemovePlan,
  removalSteps,
  removedWith,
  statesAmong,
} from '../rules/states/remove-plan.ts';

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
  // Who waits for a turn means the state that was there when he asked: the name may be that of another one by then.
  const { id, machine } = findState(context.index.model, wanted);
  const plan = async () => {
    const planned = await planWithDependants({ ...wanted, name: id }, force, context);
    // The list may be long, and a status is not: it goes before it as lines.
    for (const line of planned.inTheWay) call.info(line);
    if (planned.inTheWay.length > 0) throw needsForce(wanted.name, planned.inTheWay.length);
    await checkOwn(planned, wanted, call);
    call.signal.throwIfAborted();
    return planned;
  };
  if (dryrun) {
    for (const step of (await plan()).steps) call.info(describeStep(step));
    return;
  }
  await context.turns.take(machine, call.operation, call.signal, async () => {
    // Planned when it is our turn: the writer before may have changed what depends on it.
    const { states, before } = await plan();
    for (const part of before) {
      if (isDependant(part)) await release(part, call, context);
      else await removeStates(part, call, context);
    }
    await removeStates(states, call, context);
    // A menu must not offer what is gone, homes that were saved with a system among it.
    const gone = [...states, ...statesAmong(before)];
    if (gone.some(({ user, system }) => user === undefined || system !== undefined))
      await refreshMenu(call, context, { make: false });
  });
}

/** A user removes his states: what somebody made from them, and states of others, are not his. */
async function checkOwn(
  { before }: RemovePlan<Dependant>,
  { name, user }: Wanted,
  call: Call,
): Promise<void> {
  const [other] = before.flatMap((part) =>
    isDependant(part) ? part.name : part.filter((state) => state.user !== user).map(storageName),
  );
  if (user === undefined || other === undefined || (await call.isAdministrator())) return;
  throw othersDependOnIt(name, other);
}

/** The plan, when what depends on states that depend on the state is known as well. */
async function planWithDependants(wanted: Wanted, force: boolean, { index, storage }: Context) {
  const { model } = index;
  let { states } = planRemoval(model, wanted, force);
  for (;;) {
    const dependants = (await storage.dependants?.(states)) ?? [];
    const owners = dependants.flatMap((one) => ownerOf(model, one) ?? []);
    const all = new Set([...states, ...owners.flatMap((owner) => removedWith(model, owner))]);
    if (all.size === states.length) return planRemoval(model, wanted, force, dependants);
    states = [...all];
  }
}

async function release(dependant: Dependant, call: Call, { storage }: Context): Promise<void> {
  call.info(describeStep({ do: 'release', ...dependant }));
  await storage.release?.([dependant]);
}

/** Whether something was made from states, so that garbage collection leaves them alone. */
export async function haveDependants(states: readonly State[], { storage }: Context): Promise<boolean> {
  return ((await storage.dependants?.(states)) ?? []).length > 0;
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
  let collected = false;
  let isSure = true;
  for (const step of removalSteps(states)) {
    if (step.do === 'collect' && !collect) continue;
    call.info(describeStep(step));
    switch (step.do) {
      case 'destroy':
        isSure = await destroy(step.states, context);
        break;
      case 'release':
        break;
      case 'collect':
        // A removal that may be undone by a power cut has its content as long as that: the next start frees it.
        collected = isSure && (await freeContent(call, context));
        break;
      case 'forget':
        await context.index.removed(idsOf(step.states), { collected }).catch(unwritten(context));
        break;
    }
  }
}

/** @returns false when the storage said that it failed, and the states are gone all the same */
async function destroy(states: readonly State[], { index, storage }: Context): Promise<boolean> {
  try {
    await storage.destroy(states);
    return true;
  } catch (error) {
    const code = error instanceof Failure ? error.code : undefined;
    // Half of a state is none: it is told as being removed until that is done.
    if (code === 'removal_unfinished') throw error;
    // An error is not the truth: it may come after what it is about. Of a storage that is away nothing is known.
    if (code !== 'storage_unavailable' && (await areGone(states, storage))) return false;
    const ids = idsOf(states);
    await index.undone(ids[0], ids);
    throw error;
  }
}

async function areGone(states: readonly State[], storage: Storage): Promise<boolean> {
  const found = await storage.scan().catch(() => undefined);
  if (found === undefined) return false;
  const ids = new Set(idsOf(states));
  // A save that cannot be read any more may hold them still.
  const unread = [...found.leftovers, ...(found.kept ?? []).map(({ id }) => id)];
  return (
    !found.states.some(({ id }) => ids.has(id)) &&
    !states.some(({ id, system }) => unread.includes(system ?? id))
  );
}

/** Frees the content that no state uses. @returns false when it could not */
export async function freeContent(call: Call, context: Context): Promise<boolean> {
  try {
    const { objects, bytes } = await context.storage.collect();
    call.debug(`freed ${objects} objects, ${sizeText(bytes)}`);
  } catch (error) {
    // The states are gone all the same, and the next removal or start frees what this one leaves.
    context.log.error({ err: error }, 'content that no state uses could not be freed');
    call.warning(`its content was not freed: ${(error as Error).message}`);
    return false;
  }
  await context.index.collected().catch(unwritten(context));
  return true;
}

function idsOf(states: readonly State[]): readonly [string, ...string[]] {
  return states.map(({ id }) => id) as [string, ...string[]];
}

/** Removing is how a full disk gets room, so a journal that cannot be written does not stop it: the storage is the truth. */
function unwritten({ log }: Context): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'the journal could not be written');
}
