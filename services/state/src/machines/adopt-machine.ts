import { refreshMenu } from '../boot/update-boot-menu.ts';
import type { Call, Context } from '../context.ts';
import { nothingToAdopt, runsElsewhere } from '../failures-extras.ts';
import { storageName } from '../model/model.ts';
import type { Adoption, Storage } from '../outside/storage/storage.ts';
import { findMachineIn } from '../rules/machines/find-machine.ts';
import { timeText } from '../rules/machines/machine-text.ts';
import type { ExtraRequestOf, ExtraResultOf } from '../wire-extras.ts';

/** What makes a machine managed where there is nothing to adopt. */
const INSTEAD: Readonly<Record<Storage['driver'], string>> = {
  vault:
    'set STATESVC_VAULT_SYSTEM to the folder that is its system and restart the daemon; CreateUserData takes a home as it is',
  btrfs:
    'the subvolume STATESVC_BTRFS_SYSTEM is managed already; CreateUserData takes a home that is a subvolume as it is',
  zfs: '',
};

/**
 * Takes a machine over with its homes and states from the manager that kept them so far, and says what. Homes belong to several
 * machines, so nobody writes meanwhile.
 */
export async function adoptMachine(
  { machine: wanted, dryrun }: ExtraRequestOf<'Adopt'>,
  call: Call,
  context: Context,
): Promise<ExtraResultOf<'Adopt'>> {
  const { index, storage, turns } = context;
  if (storage.findAdoption === undefined) throw nothingToAdopt(storage.driver, INSTEAD[storage.driver]);
  const { id, current, datasets } = findMachineIn(index.model, wanted);
  if (current && datasets.length === 0) throw runsElsewhere();
  const machines = index.model.machines.map((machine) => machine.id);
  return await turns.takeAll(machines, call.operation, call.signal, async () => {
    const found = (await storage.findAdoption?.(id)) as Adoption;
    const { isNew, homes, states, left } = found;
    const result = { machine: id, marked: isNew, homes: homes.length, states: states.length };
    if (left > 0)
      call.warning(`${left} saves of ${id} stay as they are: there is no room to write down more of them`);
    if (!isNew && homes.length + states.length === 0) {
      call.info(`nothing is left to adopt of ${id}`);
      return { summary: result };
    }
    for (const line of linesOf(id, found)) call.info(line);
    call.signal.throwIfAborted();
    if (dryrun) return { summary: result };
    const reread = async () => await index.refreshed(await storage.scan());
    await found.adopt().catch(async (error) => {
      // Some of it is written down.
      await reread().catch(() => {});
      throw error;
    });
    await reread();
    if (current) await refreshMenu(call, context, { make: false });
    return { summary: result };
  });
}

function linesOf(id: string, { isNew, homes, states }: Adoption): readonly string[] {
  return [
    ...(isNew ? [`machine ${id}: its states are kept from now on`] : []),
    ...homes.map(({ user, dataset, path }) => `home of ${user}: ${dataset} at ${path}`),
    ...states.map((state) => {
      const kind = state.automatic ? 'automatic' : 'manual';
      const snapshot = state.members[0]?.snapshot ?? '';
      return `state ${storageName(state)}: ${snapshot}, ${kind}, ${timeText(state.createdAt)}`;
    }),
  ];
}
