import type { Dataset, Machine, NextRevert, Preparation, State } from '../../../../model/model.ts';
import { isBelow } from '../../../mounts.ts';
import { retiredMachines } from '../../known-machines.ts';
import { jsonMarkOf, markOf } from '../filesystem.ts';
import type { Booted, Head, Layout, ZfsMachine } from '../layout.ts';

/** Machines as the model knows them. There is always one that runs: where the root is not on ZFS, one that is not managed. */
export function machinesOf(layout: Layout, states: readonly State[], booted: Booted): readonly Machine[] {
  const found = layout.machines.map((machine) => machineOf(machine, states, booted));
  // Of one whose root is gone, or in a pool that is away, states of homes may be left.
  const away = retiredMachines(found, states).map((machine) => ({ ...machine, away: true as const }));
  const machines = [...found, ...away];
  if (machines[0]?.current) return machines;
  return [{ ...NOTHING, id: 'zfs:none', managed: false, current: true }, ...machines];
}

const NOTHING = {
  bootedState: undefined,
  nextState: undefined,
  prepared: undefined,
  datasets: [],
  kernel: '',
  lastUsedAt: undefined,
} as const;

/** Beyond the year 9999 it is no time that anybody wrote down. */
const MAX_SECONDS = Date.parse('9999-12-31T00:00:00Z') / 1000;

function machineOf(machine: ZfsMachine, states: readonly State[], booted: Booted): Machine {
  const { root } = machine.active.system;
  const prepared = jsonMarkOf(root, 'croft:boot') as Preparation | undefined;
  const next = jsonMarkOf(root, 'croft:next') as { state?: string; revert?: NextRevert } | undefined;
  const seconds = Number(
    markOf(root, 'croft:last-used') || markOf(root, 'com.ubuntu.zsys:last-used') || Number.NaN,
  );
  return {
    id: machine.id,
    managed: machine.managed,
    current: machine.isCurrent,
    lasting: true,
    bootedState: machine.isCurrent ? bootedState(machine, states, booted, prepared) : undefined,
    revertTo: machine.isCurrent ? wantedState(states, booted, prepared) : null,
    nextState: next?.state,
    nextRevert: next?.revert,
    // What another boot began and did not finish is nothing: it made clones beside what is there.
    prepared: prepared?.done === true || prepared?.boot === booted.bootId ? prepared : undefined,
    datasets: datasetsOf(machine.active),
    ...(machine.before === undefined ? {} : { before: datasetsOf(machine.before) }),
    kernel: markOf(root, 'croft:last-booted-kernel') || markOf(root, 'com.ubuntu.zsys:last-booted-kernel'),
    lastUsedAt:
      Math.abs(seconds) < MAX_SECONDS ? new Date(Math.round(seconds * 1000)).toISOString() : undefined,
  };
}

/** What is mounted somewhere; containers without a place of their own are saved all the same. */
function datasetsOf({ system, boots }: Head): readonly Dataset[] {
  return [system, ...boots].flatMap((tree) =>
    tree.datasets
      .filter((one) => one === tree.root || (one.path.startsWith('/') && one.canmount !== 'off'))
      .map(({ name, path, altroot }) => ({
        name,
        role: isBelow(path.slice(altroot.length), '/boot') ? ('boot' as const) : tree.role,
        path,
        holdsMounts: true as const,
      })),
  );
}

/** The state whose snapshot this boot names; promotion may have given the snapshot another name since. */
function wantedState(
  states: readonly State[],
  { snapshot, bootId }: Booted,
  prepared: Preparation | undefined,
): string | null {
  if (snapshot === '') return null;
  if (prepared?.boot === bootId) return prepared.state;
  const named = states.find(({ kind, members }) => kind === 'system' && members[0]?.snapshot === snapshot);
  return named?.id ?? snapshot;
}

/** The state that this boot goes back to, also when its snapshot has another name since, and the one a clone that runs is of. */
function bootedState(
  { active }: ZfsMachine,
  states: readonly State[],
  booted: Booted,
  prepared: Preparation | undefined,
): string | undefined {
  if (prepared?.boot === booted.bootId) return prepared.state;
  const snapshot = booted.snapshot || active.system.root.origin;
  if (snapshot === '') return undefined;
  return states.find(({ kind, members }) => kind === 'system' && members[0]?.snapshot === snapshot)?.id;
}
