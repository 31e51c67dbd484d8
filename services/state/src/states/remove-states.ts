import { Failure } from '@croft/failure';
import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { needsForce, othersDependOnIt, removalStopped, removalUnfinished } from '../failures.ts';
import { type State, storageName } from '../model/model.ts';
import type { Dependant, Storage } from '../outside/storage/storage.ts';
import { counted, sizeText } from '../rules/machines/sizes.ts';
import { findState, type Wanted } from '../rules/states/find-state.ts';
import type { Removal } from '../rules/states/reconcile.ts';
import {
  describePart,
  describeStep,
  isDependant,
  type Part,
  planRemoval,
  type RemovePlan,
  removalSteps,
  statesAmong,
  type TakingStep,
  withOwners,
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
  let held: readonly string[] = [machine];
  /** @returns the machines whose turns it takes as well, and nothing was done */
  const removeOrAsk = async () => {
    // Planned when it is our turn: the writer before may have changed what depends on it.
    const { parts } = await plan();
    const machines = new Set([...held, ...statesAmong(parts).map((state) => state.machine)]);
    if (machines.size > held.length) return [...machines];
    try {
      await removeStates(parts, call, context);
    } finally {
      // A menu must not offer what is gone or going, homes that were saved with a system among it.
      if (statesAmong(parts).some(({ user, system }) => user === undefined || system !== undefined))
        await refreshMenu(call, context, { make: false });
    }
    return [];
  };
  // Among what was made from a state may be states of other machines.
  while (held.length > 0) held = await context.turns.takeAll(held, call.operation, call.signal, removeOrAsk);
}

/** A user removes his states: what somebody made from them, and states of others, are not his. */
async function checkOwn({ parts }: RemovePlan<Dependant>, { name, user }: Wanted, call: Call): Promise<void> {
  const [other] = parts.flatMap((part) =>
    isDependant(part) ? part.name : part.filter((state) => state.user !== user).map(storageName),
  );
  if (user === undefined || other === undefined || (await call.isAdministrator())) return;
  throw othersDependOnIt(name, other);
}

/** The plan, when what depends on states that depend on the state is known as well. */
async function planWithDependants(wanted: Wanted, force: boolean, { index, storage }: Context) {
  const { model } = index;
  let states: readonly State[] = statesAmong(planRemoval(model, wanted, force).parts);
  for (;;) {
    const dependants = (await storage.dependants?.(states)) ?? [];
    const all = withOwners(model, states, dependants);
    if (all.length === states.length) return planRemoval(model, wanted, force, dependants);
    states = all;
  }
}

/** Whether something was made from states, so that garbage collection leaves them alone. */
export async function haveDependants(states: readonly State[], { storage }: Context): Promise<boolean> {
  return ((await storage.dependants?.(states)) ?? []).length > 0;
}

/**
 * Removes what a plan names, in its order and as one write, for whoever has the turns of their machines: what a crash or a failure
 * leaves of it goes at the next start, or when somebody asks again with force.
 * @param collect frees their content as well; whoever removes many does that once, as it reads through everything
 * @throws `removal_unfinished` when something is gone and not all; whatever else it throws, nothing is
 */
export async function removeStates(
  parts: readonly Part<Dependant>[],
  call: Call,
  context: Context,
  { collect }: { collect: boolean } = { collect: true },
): Promise<void> {
  const { index } = context;
  const removal = removalOf(parts);
  const { ids } = removal;
  const stopped = { isEarlier: ids.some((id) => index.model.removing.has(id)), isWritten: true };
  await index.beginRemoval(removal).catch((error) => {
    stopped.isWritten = false;
    unwritten(context)(error);
  });
  // From here on it is carried through, also when the caller goes away: half a removal helps nobody.
  let collected = false;
  let isSure = true;
  for (const [at, step] of removalSteps(parts).entries()) {
    if (step.do === 'collect' && !collect) continue;
    call.info(describeStep(step));
    switch (step.do) {
      case 'release':
      case 'destroy':
        isSure =
          (await take(step, context).catch((error) => stop(error, parts, at, stopped, call, context))) &&
          isSure;
        break;
      case 'collect':
        // A removal that may be undone by a power cut has its content as long as that: the next start frees it.
        collected = isSure && (await freeContent(call, context));
        break;
      case 'forget':
        index.removed(ids);
        if (collected) await forget(context);
        break;
    }
  }
}

/** @returns false when the storage said that it failed, and it is gone all the same */
async function take(step: TakingStep<Dependant>, { storage }: Context): Promise<boolean> {
  try {
    if (step.do === 'release') await storage.release?.([step.dependant]);
    else await storage.destroy(step.states);
    return true;
  } catch (error) {
    const code = error instanceof Failure ? error.code : undefined;
    // Half of a state is none: it is told as being removed until that is done.
    if (code === 'removal_unfinished') throw error;
    // An error is not the truth: it may come after what it is about. Of a storage that is away nothing is known.
    const mayBeGone = step.do === 'destroy' && code !== 'storage_unavailable';
    if (mayBeGone && (await areGone(step.states, storage))) return false;
    throw error;
  }
}

/**
 * Ends a removal that cannot go on.
 * @param count so many of the parts are gone
 * @param given whether it goes on with one that stopped before, and whether its intent is written down
 * @throws what stopped it when nothing is gone, so that it is taken back; else, also where that cannot be written down,
 * `removal_unfinished`
 */
async function stop(
  error: unknown,
  parts: readonly Part<Dependant>[],
  count: number,
  { isEarlier, isWritten }: { readonly isEarlier: boolean; readonly isWritten: boolean },
  call: Call,
  context: Context,
): Promise<never> {
  const { index } = context;
  const removal = removalOf(parts);
  const isUnfinished = error instanceof Failure && error.code === 'removal_unfinished';
  const isUntouched = !isEarlier && count === 0 && !isUnfinished;
  // Of what was never written down no start knows.
  if (isUntouched && ((await wasUndone(removal, context)) || !isWritten)) throw error;
  // What went may have made room for it: without it no start would know. And what could not be undone for good the next start
  // takes, so it stays begun here as well.
  if (!isWritten || isUntouched) await index.beginRemoval(removal).catch(unwritten(context));
  const [gone, left] = [parts.slice(0, count), parts.slice(count)];
  index.partlyRemoved(statesAmong(gone).map(({ id }) => id));
  if (!(error instanceof Failure)) throw error;
  if (parts.length === 1) throw isUnfinished ? error : removalUnfinished(error);
  for (const part of gone) call.info(`gone: ${describePart(part)}`);
  for (const part of left) call.warning(`not gone: ${describePart(part)}`);
  throw removalStopped(error, gone.length, left.length);
}

/** Takes back a removal of which nothing is gone. @returns false when that could not be written down */
async function wasUndone({ ids }: Removal, context: Context): Promise<boolean> {
  try {
    await context.index.undone(ids[0], ids);
    return true;
  } catch (error) {
    unwritten(context)(error);
    return false;
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
    call.debug(`freed ${counted(objects, 'object')}, ${sizeText(bytes)}`);
  } catch (error) {
    // The states are gone all the same, and the next removal or start frees what this one leaves.
    context.log.error({ err: error }, 'content that no state uses could not be freed');
    call.warning(`its content was not freed: ${(error as Error).message}`);
    return false;
  }
  await forget(context);
  return true;
}

/** Nothing is left of removals. Where a power cut may still bring it back, that is written down later, and nobody waits for it. */
async function forget(context: Context): Promise<void> {
  const { index, storage } = context;
  const written = index.collected(storage.lasting?.bind(storage)).catch(unwritten(context));
  if (storage.lasting === undefined) await written;
}

function removalOf(parts: readonly Part<Dependant>[]): Removal {
  const dependants = parts.filter(isDependant).map(({ name, guid }) => ({ name, guid }));
  return { ids: idsOf(statesAmong(parts)), dependants };
}

function idsOf(states: readonly State[]): readonly [string, ...string[]] {
  return states.map(({ id }) => id) as [string, ...string[]];
}

/** Removing is how a full disk gets room, so a journal that cannot be written does not stop it: the storage is the truth. */
function unwritten({ log }: Context): (error: unknown) => void {
  return (error) => log.error({ err: error }, 'a removal could not be written down');
}
