import { isPartial, type Machine, type Member, type Model, type State } from '../../model/model.ts';
import { counted, sizeText } from './sizes.ts';

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
    ...nextBoot(model, machine),
    ...(full && machine.kernel !== '' ? [['Kernel:', machine.kernel]] : []),
    ...(full
      ? machine.datasets.map(({ name, role, path }) => ['Dataset:', `${name} (${role}) ${path}`])
      : []),
    ['States:', String(states.length)],
  ];
  const users = statesOfUsers(model, machine);
  const lines = table(facts);
  if (states.length > 0) lines.push('', ...stateTable(states, { ids: full }));
  if (users.length > 0) {
    const rows = users.map(({ user, path, states: theirs }) => [user, path, String(theirs.length)]);
    lines.push('', ...table([['USER', 'HOME', 'STATES'], ...rows]));
  }
  if (full) {
    for (const { user, states: theirs } of users) {
      if (theirs.length > 0) lines.push('', `states of ${user}:`, ...stateTable(theirs, { ids: false }));
    }
    lines.push(...[...states, ...users.flatMap((each) => each.states)].flatMap(detailLines));
  }
  return `${lines.join('\n')}\n`;
}

function nextBoot(model: Model, { nextState, nextRevert }: Machine): string[][] {
  if (nextState === undefined) return [];
  const name = model.states.find(({ id }) => id === nextState)?.name ?? nextState;
  return [['Next boot:', `goes back to ${name}${nextRevert?.users === true ? ', with homes' : ''}`]];
}

/** Local clocks and daylight saving make times of states ambiguous, so they are shown in UTC and say so. */
export function timeText(rfc3339: string): string {
  return `${rfc3339.slice(0, 10)} ${rfc3339.slice(11, 19)} UTC`;
}

/** What people wrote comes last: it may be long, and has blanks in it. */
function stateTable(states: readonly State[], { ids }: { ids: boolean }): string[] {
  const areDescribed = states.some(({ description }) => description !== '');
  const more = (id: string, description: string) => [
    ...(ids ? [id] : []),
    ...(areDescribed ? [description] : []),
  ];
  return table([
    [...STATE_COLUMNS, ...more('ID', 'DESCRIPTION')],
    ...states.map((state) => [...stateRow(state), ...more(state.id, firstLine(state.description))]),
  ]);
}

const STATE_COLUMNS = ['NAME', 'CREATED', 'KIND', 'CONTENT', 'SIZE'];
const MAX_SHOWN = 60;

function firstLine(text: string): string {
  const [line = '', ...others] = text.split('\n');
  const characters = Array.from(line);
  const isCut = others.length > 0 || characters.length > MAX_SHOWN;
  return isCut ? `${characters.slice(0, MAX_SHOWN).join('')}…` : line;
}

function stateRow(state: State): string[] {
  const counted = state.members.filter(isCounted);
  const bytes = counted.reduce((sum, member) => sum + member.bytes, 0);
  return [
    state.name,
    timeText(state.createdAt),
    `${state.automatic ? 'automatic' : 'manual'}${state.pinned ? ', pinned' : ''}`,
    isPartial(state) ? 'partial' : 'whole',
    counted.length === 0 ? '-' : sizeText(bytes),
  ];
}

/** A snapshot is made without looking at what is in it, and what was looked into has at least its own folder. */
function isCounted({ entries }: Member): boolean {
  return entries > 0;
}

function detailLines(state: State): string[] {
  const { imported, description, kernel } = state;
  return [
    '',
    `${state.user === undefined ? '' : `${state.user}@`}${state.name}:`,
    ...table(
      state.members.map((member) => [
        `  ${member.dataset} (${member.role})`,
        member.path,
        isCounted(member) ? counted(member.entries, 'entry', 'entries') : 'not counted',
        `${member.unreadable} unreadable`,
        `${member.torn} torn`,
      ]),
    ),
    ...(kernel === '' ? [] : [`  kernel ${kernel}`]),
    ...(imported === undefined
      ? []
      : [
          `  imported ${timeText(imported.at)} from ${imported.machine} (${imported.id})${imported.bootable === false ? ', to look into' : ''}`,
        ]),
    ...(description === '' ? [] : description.split('\n').map((line) => `  | ${line}`)),
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
  // Somebody saved it there, unless it came from elsewhere.
  const saved = states.find(({ imported }) => imported === undefined)?.createdAt;
  const last = [machine.lastUsedAt, saved]
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
  return last === undefined ? 'unknown' : timeText(last);
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
