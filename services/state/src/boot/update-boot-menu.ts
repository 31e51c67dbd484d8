import type { Call, Context } from '../context.ts';
import { machineNotManaged, noBootLoader } from '../failures.ts';
import type { BootLoader } from '../outside/boot-loader/boot-loader.ts';
import { findBootLoaders, listKernels, systemName } from '../outside/boot-loader/find-boot-loaders.ts';
import { type MenuEntry, menuStates, planMenu, statesIn } from '../rules/boot/boot-menu.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { counted } from '../rules/machines/sizes.ts';
import type { RequestOf } from '../wire.ts';

const NEVER = new AbortController().signal;

/** Who is told what is done. */
type Told = Pick<Call, 'operation' | 'info' | 'warning' | 'debug'>;

/** Writes the boot menu of the machine that runs, from what is known of its states. */
export async function updateBootMenu(
  { auto }: RequestOf<'UpdateBootMenu'>,
  call: Call,
  context: Context,
): Promise<void> {
  const machine = currentMachine(context.index.model);
  if (!machine.managed) {
    // The package manager's hook calls this on every host: there it must not fail.
    if (!auto) throw machineNotManaged();
    call.info('this machine is not managed, so it has no menu of states');
    return;
  }
  await context.turns.take(machine.id, call.operation, call.signal, async () => {
    await writeMenu(await findBootLoaders(context.boot.settings), auto, call, context);
  });
}

/** For whoever has the machine's turn. @param auto where nothing can be written, that is no failure @returns what is in all menus */
export async function writeMenu(
  loaders: readonly BootLoader[],
  auto: boolean,
  call: Told,
  context: Context,
): Promise<readonly MenuEntry[]> {
  const { index, policy, boot, turns, storage } = context;
  const kernels = await listKernels(boot.settings.BOOT_FOLDER);
  const missing =
    loaders.length === 0
      ? 'no boot loader was found'
      : kernels.length === 0
        ? 'no kernel was found'
        : undefined;
  if (missing !== undefined) {
    if (!auto) throw noBootLoader(missing, boot.settings.BOOT_FOLDER);
    call.debug(`the boot menu was left alone: ${missing}`);
    return [];
  }
  const [machine, limits] = [currentMachine(index.model), policy.policy.menu];
  const bootWords = new Map<string, readonly string[]>();
  for (const state of menuStates(index.model, machine, limits)) {
    const words = await storage.bootWords?.(state, (line) => call.warning(line));
    if (words !== undefined) bootWords.set(state.id, words);
  }
  const facts = { system: await systemName(), kernels, commandLine: boot.text, bootWords };
  const plan = planMenu(index.model, machine, limits, facts);
  let shown = plan.entries;
  for (const loader of loaders) {
    // Callers have turns of different machines, and the files are the same.
    const written = await turns.take('menu', call.operation, NEVER, () => loader.write(plan.entries));
    const { changed, entries, lacking } = written;
    const states = statesIn(entries);
    if (changed) context.happenings.tell({ menu: { states, entries: entries.length } });
    call.info(
      `boot menu (${loader.name}): ${counted(states, 'state')}, ${counted(entries.length, 'entry', 'entries')}${changed ? '' : ', unchanged'}`,
    );
    if (lacking !== undefined)
      call.warning(
        `${counted(plan.states - states, 'state is', 'states are')} not in the boot menu (${loader.name}): ${lacking}`,
      );
    shown = shown.filter((entry) => entries.includes(entry));
  }
  for (const [kernel, states] of Map.groupBy(plan.strange, (state) => state.kernel))
    call.warning(
      `${kernel} is no longer in ${boot.settings.BOOT_FOLDER}, so the boot menu starts these with the newest kernel, and one without modules for that may come up without drivers: ${states.map(({ name }) => name).join(', ')}`,
    );
  if (plan.leftOut > 0)
    call.info(
      `${counted(plan.leftOut, 'state is', 'states are')} not in the boot menu: it shows at most ${policy.policy.menu.states}`,
    );
  return shown;
}

/**
 * The menu after something changed: what goes wrong with it is a warning, because what was asked for is done.
 * @param make also where there is none yet; else only one that somebody asked for before is kept up
 */
export async function refreshMenu(call: Told, context: Context, { make }: { make: boolean }): Promise<void> {
  try {
    const found = await findBootLoaders(context.boot.settings);
    const kept = await Promise.all(found.map(async (loader) => make || (await loader.hasMenu())));
    const loaders = found.filter((_, at) => kept[at]);
    if (loaders.length > 0 || make) await writeMenu(loaders, true, call, context);
  } catch (error) {
    context.log.error({ err: error }, 'the boot menu could not be written');
    call.warning(`the boot menu was not updated: ${(error as Error).message}`);
  }
}

/** At start: the menu after removals of which a crash may have kept it from being told. */
export async function settleMenu(context: Context): Promise<void> {
  const { log } = context;
  const info = (line: string) => log.info({}, line);
  const warning = (line: string) => log.warn({}, line);
  await refreshMenu({ operation: 'start', info, warning, debug: () => {} }, context, { make: false });
}
