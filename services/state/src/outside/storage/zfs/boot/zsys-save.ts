import { randomUUID } from 'node:crypto';
import type { Member, State } from '../../../../model/model.ts';
import type { FileSystem } from '../filesystem.ts';
import { identityOf, type Outline, type SavedDataset } from '../states/save-record.ts';
import type { Tree } from '../tree.ts';
import { poolOf } from '../zfs-commands.ts';
import { notedOf, placeOf, type ZsysSnapshots } from './zsys-snapshots.ts';

/** The only sign of a state that nobody asked for. */
const AUTOMATIC = /^autozsys_[a-z0-9]{6}$/;

/** Snapshots that ZSys took at once, as states of ours. */
export interface ZsysSave {
  /** What the snapshots are called after `@`. */
  readonly end: string;
  readonly states: readonly State[];
  readonly outline: Outline;
}

/** One tree of a save, with what of it is there. */
export interface Part {
  readonly tree: Tree;
  readonly datasets: readonly FileSystem[];
}

/** Makes states of what lies in some trees, the first of which says what kind of save it is. */
export function zsysSave(
  { end, parts }: { end: string; parts: readonly Part[] },
  machine: string,
  found: ZsysSnapshots,
): ZsysSave {
  const id = randomUUID();
  const first = parts[0] as Part;
  const lead = found.get(`${first.tree.root.name}@${end}`);
  const members = parts.flatMap((part) => membersOf(part, end, found));
  const pools = new Set(members.map(({ snapshot }) => poolOf(snapshot)));
  const instants = new Set(members.map(({ snapshot }) => found.get(snapshot)?.get('createtxg')?.value));
  const common = {
    machine,
    name: end,
    automatic: AUTOMATIC.test(end),
    pinned: false,
    description: '',
    kernel: notedOf(lead, 'last-booted-kernel').value,
    oneInstant: pools.size === 1 && instants.size === 1,
    createdAt: new Date(Number(lead?.get('creation')?.value ?? 0) * 1000).toISOString(),
  };
  const isSystem = first.tree.user === undefined;
  const users = [...new Set(members.flatMap(({ user }) => user ?? []))].sort();
  const of = (user: string | undefined) => members.filter((member) => member.user === user);
  const states: readonly State[] = isSystem
    ? [
        { id, kind: 'system', ...common, members: of(undefined) },
        ...users.map((user) => ({
          id: randomUUID(),
          kind: 'user' as const,
          user,
          system: id,
          ...common,
          members: of(user),
        })),
      ]
    : [{ id, kind: 'user', user: first.tree.user as string, ...common, members }];
  return { end, states, outline: outlineOf(id, parts, end, found) };
}

function membersOf(
  { tree: { role, user }, datasets }: Part,
  end: string,
  found: ZsysSnapshots,
): readonly Member[] {
  return datasets.map((system) => {
    const snapshot = `${system.name}@${end}`;
    const properties = found.get(snapshot);
    return {
      dataset: system.name,
      role,
      ...(user === undefined ? {} : { user }),
      path: placeOf(system, properties).path,
      guid: identityOf(properties),
      snapshot,
      entries: 0,
      bytes: Number(properties?.get('referenced')?.value ?? 0),
      unreadable: 0,
      torn: 0,
    };
  });
}

function outlineOf(id: string, parts: readonly Part[], end: string, found: ZsysSnapshots): Outline {
  return {
    version: 1,
    id,
    trees: parts.map(({ tree: { role, user, root } }) => ({
      role,
      ...(user === undefined ? {} : { user }),
      root: root.name,
    })),
    datasets: parts.flatMap(({ tree: { root }, datasets }, tree) =>
      datasets.map((system): SavedDataset => {
        const properties = found.get(`${system.name}@${end}`);
        return {
          tree,
          below: system.name.slice(root.name.length),
          ...placeOf(system, properties),
          canmount: notedOf(properties, 'canmount').value,
        };
      }),
    ),
  };
}
