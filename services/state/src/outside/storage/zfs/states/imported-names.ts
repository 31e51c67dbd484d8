import type { Member, State } from '../../../../model/model.ts';
import type { Layout } from '../layout.ts';
import type { Tree } from '../tree.ts';

/**
 * The datasets that members of states from elsewhere are of, so that they can be compared with what is here: what lies where
 * they lay, and for a home that lay elsewhere its root. What has nothing here gets a name that no dataset has.
 * @returns the same states, whose members' datasets have names of this pool, each another one
 */
export function importedNames(
  states: readonly State[],
  { machines, homes }: Layout,
  pool: string,
): readonly State[] {
  const current = machines.find(({ isCurrent }) => isCurrent)?.active;
  const ofSystem = current === undefined ? [] : [current.system, ...current.boots];
  const taken = new Set<string>();
  const nameOf = (member: Member): string => {
    const { user, path, dataset } = member;
    const trees: readonly Tree[] =
      user === undefined ? ofSystem : (homes.find((home) => home.user === user)?.trees ?? []);
    const there = trees.flatMap(({ datasets }) => datasets).find((one) => one.path === path)?.name;
    const isHome = user !== undefined && dataset === `home-${user}`;
    const plain = `${pool}/${dataset.replaceAll(/[^\w.:-]/g, '_').slice(0, 100)}`;
    const wanted = [there, isHome ? trees[0]?.root.name : undefined, plain];
    return wanted.find((name) => name !== undefined && !taken.has(name)) ?? `${plain}_${taken.size}`;
  };
  return states.map((state) => ({
    ...state,
    members: state.members.map((member) => {
      const dataset = nameOf(member);
      taken.add(dataset);
      return { ...member, dataset };
    }),
  }));
}
