import type { Call, Context } from '../context.ts';
import { notStartedOnce, stillStartedOnce } from '../failures-extras.ts';
import { type Machine, type NextRevert, type State, storageName } from '../model/model.ts';
import type { BootLoader } from '../outside/boot-loader/boot-loader.ts';
import { findBootLoaders } from '../outside/boot-loader/find-boot-loaders.ts';
import { leadsTo, stateEntry } from '../rules/boot/boot-menu.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { markMachine } from './mark-machine.ts';
import { writeMenu } from './update-boot-menu.ts';

/** The boot loaders that can start a state at the next boot and go on as before. */
async function loadersOnce(state: State, context: Context): Promise<readonly BootLoader[]> {
  const able: BootLoader[] = [];
  const reasons: string[] = [];
  for (const loader of await findBootLoaders(context.boot.settings)) {
    const why = await loader.whyNotOnce().catch((error: Error) => error.message);
    if (why === undefined) able.push(loader);
    else reasons.push(`${loader.name}: ${why}`);
  }
  if (able.length > 0) return able;
  throw await refusal(state, reasons.join('; ') || 'no boot menu is kept here', context);
}

/**
 * Writes down that the next boot goes back to a state, and has boot loaders start it, for machines whose root is only exchanged
 * by booting another one. When one of them does not, all is as it was.
 * @param before the machine as it is until now
 * @throws FAILED_PRECONDITION when no boot loader can, saying why and what to do instead; ABORTED when its root is not there
 */
export async function startOnce(
  state: State,
  nextRevert: NextRevert,
  before: Machine,
  call: Call,
  context: Context,
): Promise<void> {
  await context.storage.checkBootable?.(state);
  const loaders = await loadersOnce(state, context);
  const names = loaders.map(({ name }) => name);
  const asBefore = { nextState: before.nextState, nextRevert: before.nextRevert };
  const wanted = { nextState: state.id, nextRevert: { ...nextRevert, loaders: names } };
  await markMachine(context, before.id, wanted).catch(async (error) => {
    // It may be written down all the same, and nobody asks a boot loader for it.
    await markMachine(context, before.id, asBefore).catch(() => {});
    throw error;
  });
  /** What those were asked for that were told something else. */
  const asked = new Map<BootLoader, string | undefined>();
  try {
    const entries = await writeMenu(loaders, false, call, context);
    const entry = stateEntry(entries, state.id, nextRevert.users);
    if (entry === undefined) throw new Error('its menu has no room for it');
    for (const loader of loaders) {
      asked.set(loader, (await loader.asked()) || undefined);
      await loader.bootOnce(entry.id);
    }
  } catch (error) {
    await markMachine(context, before.id, asBefore);
    // It may have lost the state that was asked for before.
    await writeMenu(loaders, true, call, context).catch(() => {});
    for (const [loader, earlier] of asked)
      await loader.bootOnce(earlier).catch((second: Error) => {
        throw stillStartedOnce(second.message);
      });
    throw await refusal(state, (error as Error).message, context);
  }
}

async function refusal(state: State, why: string, { storage }: Context): Promise<Error> {
  const words = (await storage.bootWords?.(state, () => {})) ?? [];
  return notStartedOnce(storageName(state), why, words);
}

/**
 * The next boot is one as ever, whatever was asked of the boot loaders.
 * @param asked names of those that are known to have been asked, undefined for none
 * @returns why it may not be, without a point at its end; undefined when it is
 */
export async function forgetOnce(
  asked: readonly string[] | undefined,
  { boot: { settings } }: Context,
): Promise<string | undefined> {
  try {
    const there = new Set<string>();
    for (const loader of await findBootLoaders(settings)) {
      await loader.bootOnce(undefined);
      if ((await loader.asked()) !== undefined) there.add(loader.name);
    }
    const away = (asked ?? []).filter((name) => !there.has(name));
    if (away.length === 0) return undefined;
    return `${away.join(' and ')} was asked and is not found now; mount what its menu lies on, such as ${settings.BOOT_FOLDER}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** At start: takes a request back that was written down and that a crash kept from the boot loaders. */
export async function settleOnce(context: Context): Promise<void> {
  const { index, boot, log } = context;
  const { id, nextState, nextRevert } = currentMachine(index.model);
  const names = nextRevert?.askedIn === boot.id ? nextRevert.loaders : undefined;
  if (nextState === undefined || names === undefined) return;
  try {
    const found = (await findBootLoaders(boot.settings)).filter(({ name }) => names.includes(name));
    // One that is not found, or cannot tell, may have been told.
    if (found.length < names.length) return;
    for (const loader of found) {
      const entry = await loader.asked();
      if (entry === undefined || leadsTo(entry, nextState)) return;
    }
    // Of what was asked for earlier.
    for (const loader of found) await loader.bootOnce(undefined);
    await markMachine(context, id, { nextState: undefined, nextRevert: undefined });
    log.warn({ state: nextState }, 'a request to go back was interrupted and is taken back: ask again');
  } catch (error) {
    log.error({ err: error }, 'what the next boot goes back to could not be compared with the boot loader');
  }
}
