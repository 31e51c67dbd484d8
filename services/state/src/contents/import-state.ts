import { randomUUID } from 'node:crypto';
import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { machineNotManaged } from '../failures.ts';
import { alreadyImporting, badImport, importStalled } from '../failures-extras.ts';
import { canGoBackTo, type State, storageName } from '../model/model.ts';
import type { Received } from '../outside/storage/storage.ts';
import { currentMachine } from '../rules/machines/find-machine.ts';
import { sizeText } from '../rules/machines/sizes.ts';
import { checkImportName, planImport } from '../rules/states/import-plan.ts';
import { spaceToWrite } from '../rules/states/save-plan.ts';
import { checkTypedName } from '../rules/states/state-name.ts';
import { recorded, undoSave } from '../states/save-states.ts';
import type { ExtraRequestOf, ImportPart } from '../wire-extras.ts';

/** A sender who says nothing for so long is gone. */
const STALLED_SECONDS = 60;
const TURN = 'import';

/**
 * Takes in what Export gave, as a state of the machine that runs. The machine is not held while it comes: only when all of it
 * is here and checked is it put among the states.
 * @returns the state's name
 */
export async function importState(
  parts: ExtraRequestOf<'Import'>,
  call: Call,
  context: Context,
): Promise<string> {
  const { incoming, index, turns } = context;
  if (!currentMachine(index.model).managed) throw machineNotManaged();
  // What is free on the disk can be promised once.
  if (turns.list().some(({ key }) => key === TURN)) throw alreadyImporting();
  return await turns.take(TURN, call.operation, call.signal, () =>
    incoming.take(call.signal, (signal) => takeIn(parts, { ...call, signal }, context)),
  );
}

async function takeIn(parts: ExtraRequestOf<'Import'>, call: Call, context: Context): Promise<string> {
  const messages = parts[Symbol.asyncIterator]();
  const first = await nextOf(messages, call.signal);
  if (first?.part !== 'header') throw badImport('its first message is no header');
  const wanted = first.header.stateName;
  checkTypedName(wanted);
  const id = randomUUID();
  try {
    const checkName = (states: readonly State[]) => nameOf(states, wanted, context);
    const received = await receive(id, messages, checkName, call, context);
    return await add(id, received, wanted, call, context);
  } catch (error) {
    await context.storage.discard(id).catch((left) => {
      context.log.error({ err: left, state: id }, 'what came of an import stays until the next start');
    });
    throw error;
  }
}

/** The name that what comes will have. @throws INVALID_ARGUMENT, ALREADY_EXISTS */
function nameOf([first]: readonly State[], wanted: string, { index: { model } }: Context): string {
  return checkImportName(model, currentMachine(model), first as State, wanted);
}

async function receive(
  id: string,
  messages: AsyncIterator<ImportPart>,
  check: (states: readonly State[]) => void,
  { signal, warning }: Call,
  { storage, minFree }: Context,
): Promise<Received> {
  const spaceLeft = async () => spaceToWrite(await storage.space(), minFree);
  const budget = await spaceLeft();
  // A save is promised the same space, and comes first: it holds the machine.
  const checkSpace = async () => void (await spaceLeft());
  const content = contentsOf(messages, signal);
  return storage.transfer.receive({ id, content, check, budget, checkSpace, signal, report: warning });
}

/** In the machine's turn, as a save: intent, content, completion mark, record. */
async function add(
  id: string,
  received: Received,
  wanted: string,
  call: Call,
  context: Context,
): Promise<string> {
  const { storage, index, turns, clock } = context;
  return await turns.take(currentMachine(index.model).id, call.operation, call.signal, async () => {
    const machine = currentMachine(index.model);
    // Somebody may have taken it meanwhile.
    const name = nameOf(received.states, wanted, context);
    const choices = { id, newId: randomUUID, now: clock.now() };
    const states = planImport(machine, received, storage.driver, name, choices);
    await index.beginSave(id);
    try {
      await storage.transfer.place(id);
      call.signal.throwIfAborted();
      await storage.complete(states);
      // What comes from outside cannot be completed by a start.
      await storage.lasting?.();
    } catch (error) {
      await undoSave(id, context);
      throw error;
    }
    await recorded(id, states, context);
    for (const state of states) {
      const bytes = state.members.reduce((sum, member) => sum + member.bytes, 0);
      call.info(`imported ${storageName(state)}, ${sizeText(bytes)}, saved ${state.createdAt}`);
    }
    for (const state of states.slice(0, 1))
      if (state.kind === 'system' && !canGoBackTo(state))
        call.info(
          `no machine goes back to ${storageName(state)}: it is there to be looked into and taken out`,
        );
    if (states[0]?.kind === 'system') await refreshMenu(call, context, { make: false });
    return name;
  });
}

async function* contentsOf(
  messages: AsyncIterator<ImportPart>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for (let part = await nextOf(messages, signal); part !== undefined; part = await nextOf(messages, signal)) {
    if (part.part !== 'content') throw badImport('only its first message is a header');
    yield part.content;
  }
}

/** @returns undefined at the end @throws DEADLINE_EXCEEDED when nothing comes; the signal's reason */
async function nextOf(
  messages: AsyncIterator<ImportPart>,
  signal: AbortSignal,
): Promise<ImportPart | undefined> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  const timer = setTimeout(() => reject(importStalled(STALLED_SECONDS)), STALLED_SECONDS * 1000);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const { done, value } = await Promise.race([messages.next(), promise]);
    return done === true ? undefined : value;
  } catch (error) {
    // A connection that breaks ends the stream with an error of its own.
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
