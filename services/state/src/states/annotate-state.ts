import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { type State, storageName } from '../model/model.ts';
import { checkUserName } from '../rules/machines/user-data.ts';
import { checkDescription } from '../rules/states/description.ts';
import { nameState } from '../rules/states/find-state.ts';
import { checkPin } from '../rules/states/pins.ts';
import type { ExtraRequestOf } from '../wire-extras.ts';

/** Writes down what somebody says of a state, in place of what was said before. */
export async function describeState(
  request: ExtraRequestOf<'Describe'>,
  call: Call,
  context: Context,
): Promise<void> {
  const { description } = request;
  checkDescription(description);
  await annotate(request, { description }, call, context);
}

/** Keeps a state from garbage collection, and from removal without `force`; or no longer. */
export async function pinState(
  request: ExtraRequestOf<'Pin' | 'Unpin'>,
  pinned: boolean,
  call: Call,
  context: Context,
): Promise<void> {
  await annotate(request, { pinned }, call, context);
  // It shows what is pinned before anything else.
  if (request.userName === '') await refreshMenu(call, context, { make: false });
}

/** Of what was saved together only the one that was named: what a user says of his state is his business. */
async function annotate(
  { stateName, userName }: ExtraRequestOf<'Pin'>,
  change: Partial<Pick<State, 'pinned' | 'description'>>,
  call: Call,
  context: Context,
): Promise<void> {
  const { index, storage, turns } = context;
  if (userName !== '') checkUserName(userName);
  const find = (name: string) => nameState(index.model, { name, user: userName || undefined });
  const { id, machine } = find(stateName);
  await turns.take(machine, call.operation, call.signal, async () => {
    // That one, whatever the name means by now.
    const before = find(id);
    const state = { ...before, ...change };
    if (state.pinned === before.pinned && state.description === before.description) {
      call.info(`${storageName(state)} is so already`);
      return;
    }
    if (state.pinned && !before.pinned) checkPin(index.model, state);
    try {
      await storage.annotate([state]);
    } catch (error) {
      // It may be written down all the same: what the storage says is what counts.
      await believeStorage(state.id, context).catch(() => {});
      throw error;
    }
    await remember(state, context);
    if (change.description !== undefined)
      call.info(
        `${storageName(state)} ${change.description === '' ? 'has no description any more' : 'is described'}`,
      );
    else call.info(`${storageName(state)} is ${state.pinned ? 'pinned' : 'no longer pinned'}`);
  });
}

async function believeStorage(id: string, context: Context): Promise<void> {
  const stored = (await context.storage.scan()).states.find((state) => state.id === id);
  if (stored !== undefined) await remember(stored, context);
}

/** A journal that cannot be written only costs messages at the next start. */
async function remember(state: State, { index, log }: Context): Promise<void> {
  await index.annotated([state]).catch((error) => {
    log.error({ err: error, state: state.id }, 'the journal could not be written; the storage has it');
  });
}
