import type { State } from '../../../../model/model.ts';
import { adoptedName } from '../../../../rules/states/adopted-name.ts';
import type { ZfsMachine } from '../layout.ts';
import { identityOf } from '../states/save-record.ts';
import type { Tree } from '../tree.ts';
import type { ZfsCommands } from '../zfs-commands.ts';
import { type Part, type ZsysSave, zsysSave } from './zsys-save.ts';
import { endOf, notedOf, readZsysSnapshots } from './zsys-snapshots.ts';

/**
 * What ZSys saved of a machine and of homes that belong to it, newest first.
 * @param homes their trees
 * @param known the states that are ours already, of all machines
 */
export async function findZsysSaves(
  machine: ZfsMachine,
  homes: readonly Tree[],
  known: readonly State[],
  zfs: ZfsCommands,
): Promise<readonly ZsysSave[]> {
  const heads = machine.heads.map(({ system }) => system);
  const boots = machine.heads.flatMap((head) => head.boots);
  const found = await readZsysSnapshots([...heads, ...boots, ...homes], zfs);
  const used = new Set(known.flatMap(({ members }) => members.map(({ guid }) => guid)));
  const endsOf = ({ root }: Tree) =>
    [...found.keys()].flatMap((name) => (name.startsWith(`${root.name}@`) ? [endOf(name)] : []));
  /** Of the trees those that were saved under a name and are of no state yet; from then on they are. */
  const take = (trees: readonly Tree[], end: string): readonly Part[] =>
    trees.flatMap((tree) => {
      const identity = identityOf(found.get(`${tree.root.name}@${end}`));
      if (identity === '' || used.has(identity)) return [];
      used.add(identity);
      return [{ tree, datasets: tree.datasets.filter(({ name }) => found.has(`${name}@${end}`)) }];
    });
  const roots = new Set(heads.map(({ root }) => root.name));
  const belongs = ({ root }: Tree, end: string) => {
    const links = notedOf(found.get(`${root.name}@${end}`), 'bootfs-datasets').value;
    // The home belongs to this machine now, which counts where nothing was noted.
    return links === '' || links.split(',').some((link) => roots.has(link));
  };
  const groups: { end: string; parts: readonly Part[] }[] = [];
  for (const [at, head] of heads.entries())
    for (const end of endsOf(head)) {
      const system = take([head], end);
      if (system.length === 0) continue;
      const [own, others] = [machine.heads[at]?.boots ?? [], boots];
      const boot = take(own, end);
      const its = homes.filter((home) => belongs(home, end));
      const parts = [...system, ...(boot.length > 0 ? boot : take(others, end)), ...take(its, end)];
      groups.push({ end, parts });
    }
  for (const trees of Map.groupBy(homes, ({ user }) => user).values())
    for (const end of new Set(trees.flatMap(endsOf))) {
      // The rest is of saves of another machine that the home belongs to as well.
      const parts = take(
        trees.filter((tree) => belongs(tree, end)),
        end,
      );
      if (parts.length > 0) groups.push({ end, parts });
    }
  return named(
    groups.map((group) => zsysSave(group, machine.id, found)),
    known.filter((state) => state.machine === machine.id),
  );
}

/** With names that are unique here. States of systems have theirs first. */
function named(saves: readonly ZsysSave[], known: readonly State[]): readonly ZsysSave[] {
  const taken = new Map<string | undefined, Set<string>>();
  const takenOf = (user: string | undefined) => {
    const names = taken.get(user) ?? new Set<string>();
    taken.set(user, names);
    return names;
  };
  for (const { user, name } of known) takenOf(user).add(name);
  return saves
    .toSorted((a, b) => Number(isOfUser(a)) - Number(isOfUser(b)))
    .map((save) => {
      const [first] = save.states as [State, ...State[]];
      // A save of the machine is one of each user, too.
      const others =
        first.user === undefined ? [...taken.values()] : [takenOf(undefined), takenOf(first.user)];
      const name = adoptedName(save.end, first.id, new Set(others.flatMap((names) => [...names])));
      for (const { user } of save.states) takenOf(user).add(name);
      return { ...save, states: save.states.map((state) => ({ ...state, name })) };
    })
    .sort((a, b) => Number(createdAt(a) < createdAt(b)) - Number(createdAt(a) > createdAt(b)));
}

const createdAt = ({ states }: ZsysSave) => states[0]?.createdAt ?? '';
const isOfUser = ({ states }: ZsysSave) => states[0]?.user !== undefined;
