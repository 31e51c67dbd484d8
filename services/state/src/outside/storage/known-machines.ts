import { readFile } from 'node:fs/promises';
import type { Machine, State } from '../../model/model.ts';
import { parseCommandLine } from '../../rules/boot/command-line.ts';
import type { MachineMarks } from './storage.ts';

/** The machine that runs, and those that only states tell of, with what is written down of each. */
export function knownMachines(
  current: Machine,
  states: readonly State[],
  marks: Readonly<Record<string, MachineMarks>>,
): readonly Machine[] {
  return [current, ...retiredMachines([current], states)].map((each) => ({ ...each, ...marks[each.id] }));
}

/** Machines that only states tell of, by their ids. @param known those that something else tells of */
export function retiredMachines(known: readonly Machine[], states: readonly State[]): readonly Machine[] {
  const ids = new Set(known.map(({ id }) => id));
  const others = new Map<string, State | undefined>();
  for (const state of states) {
    if (ids.has(state.machine) || others.get(state.machine) !== undefined) continue;
    // Of a machine of which only states of users are left, nobody knows what its system was.
    others.set(state.machine, state.kind === 'system' ? state : undefined);
  }
  return [...others].sort(([a], [b]) => (a < b ? -1 : 1)).map(retired);
}

/**
 * The machine that runs, before it is known what is written down of it.
 * @param commandLine file with the kernel's, which says to what state this boot goes back
 */
export async function runningMachine(
  commandLine: string,
  facts: Pick<Machine, 'id' | 'managed' | 'datasets'>,
): Promise<Machine> {
  const { state } = parseCommandLine(await readFile(commandLine, 'utf8').catch(() => ''));
  return { ...facts, current: true, bootedState: state, ...UNKNOWN };
}

const UNKNOWN = { nextState: undefined, prepared: undefined, kernel: '', lastUsedAt: undefined } as const;

/** A machine that is no longer configured, as its newest system state remembers it. */
function retired([id, system]: [string, State | undefined]): Machine {
  const members = system?.members ?? [];
  return {
    id,
    managed: true,
    current: false,
    bootedState: undefined,
    ...UNKNOWN,
    datasets: members.map(({ dataset, role, path }) => ({ name: dataset, role, path })),
  };
}
