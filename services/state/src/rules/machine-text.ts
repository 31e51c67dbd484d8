import { isPartial, type Machine, type Model, type State } from '../model/model.ts';
import { sizeText } from './sizes.ts';

/** Every machine as a table: current first, then by id. */
export function machineListText(model: Model): string {
  const rows = model.machines.map((machine) => {
    const states = statesOf(model, machine);
    return [machine.id, yesNo(machine.managed), String(states.length), lastUsed(machine, states)];
  });
  return `${table([['ID', 'MANAGED', 'STATES', 'LAST USED'], ...rows]).join('\n')}\n`;
}

/** One machine and its states, newest first; `full` adds ids and datasets. */
export function machineShowText(model: Model, machine: Machine, full: boolean): string {
  const states = statesOf(model, machine);
  const facts = [
    ['Machine:', machine.id],
    ['Managed:', yesNo(machine.managed)],
    ['Last used:', lastUsed(machine, states)],
    ...(machine.bootedState === undefined ? [] : [['Booted from:', machine.bootedState]]),
    ...(full
      ? machine.datasets.map(({ name, role, path }) => ['Dataset:', `${name} (${role}) ${path}`])
      : []),
    ['States:', String(states.length)],
  ];
  const users = statesOfUsers(model, machine);
  const lines = table(facts);
  if (states.length > 0) {
    const rows = [STATE_COLUMNS, ...states.map((state) => stateRow(state))];
    const ids = ['ID', ...states.map((state) => state.id)];
    lines.push('', ...table(full ? rows.map((row, at) => [...row, ids[at] as string]) : rows));
  }
  if (users.length > 0) {
    const rows = users.map(({ user, path, states: theirs }) => [user, path, String(theirs.length)]);
    lines.push('', ...table([['USER', 'HOME', 'STATES'], ...rows]));
  }
  if (full) {
    for (const { user, states: theirs } of users) {
      if (theirs.length > 0)
        lines.push('', `states of ${user}:`, ...table([STATE_COLUMNS, ...theirs.map(stateRow)]));
    }
    lines.push(...[...states, ...users.flatMap((each) => each.states)].flatMap(memberLines));
  }
  return `${lines.join('\n')}\n`;
}

/** Local clocks and daylight saving make times of states ambiguous, so they are shown in UTC and say so. */
export function timeText(rfc3339: string): string {
  return `${rfc3339.slice(0, 10)} ${rfc3339.slice(11, 19)} UTC`;
}

const STATE_COLUMNS = ['NAME', 'CREATED', 'KIND', 'CONTENT', 'SIZE'];

function stateRow(state: State): string[] {
  const bytes = state.members.reduce((sum, member) => sum + member.bytes, 0);
  return [
    state.name,
    timeText(state.createdAt),
    `${state.automatic ? 'automatic' : 'manual'}${state.pinned ? ', pinned' : ''}`,
    isPartial(state) ? 'partial' : 'whole',
    sizeText(bytes),
  ];
}

function memberLines(state: State): string[] {
  return [
    '',
    `${state.user === undefined ? '' : `${state.user}@`}${state.name}:`,
    ...table(
      state.members.map((member) => [
        `  ${member.dataset} (${member.role})`,
        member.path,
        `${member.entries} entries`,
        `${member.unreadable} unreadable`,
        `${member.torn} torn`,
      ]),
    ),
  ];
}

/** States of the system. */
function statesOf(model: Model, machine: Machine): State[] {
  return shownOf(model, machine).filter(({ kind }) => kind === 'system');
}

/** Users who have a home on the machine, and those of whom it has states. */
function statesOfUsers(model: Model, machine: Machine): { user: string; path: string; states: State[] }[] {
  const states = shownOf(model, machine).filter(({ kind }) => kind === 'user');
  const homes = new Map(
    model.homes.filter(({ machines }) => machines.includes(machine.id)).map(({ user, path }) => [user, path]),
  );
  return [...new Set([...homes.keys(), ...states.map(({ user }) => user ?? '')])].sort().map((user) => ({
    user,
    path: homes.get(user) ?? '(not on this machine any more)',
    states: states.filter((state) => state.user === user),
  }));
}

function shownOf(model: Model, machine: Machine): State[] {
  return model.states.filter((state) => state.machine === machine.id && !model.removing.has(state.id));
}

function lastUsed(machine: Machine, states: readonly State[]): string {
  if (machine.current) return 'current';
  return states[0] === undefined ? 'unknown' : timeText(states[0].createdAt);
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** Columns two blanks apart, without blanks at the end of a line. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join('  ')
      .trimEnd(),
  );
}
