import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { counted } from '../src/rules/machines/sizes.ts';
import type { DumpedState } from './daemon.ts';
import type { SteppingHost } from './stepping-hosts.ts';
import type { Subject } from './subjects.ts';

/** Everything that a user could see, without times and ids. */
export interface Look {
  readonly states: readonly string[];
  /** What people said of states. */
  readonly said: readonly string[];
  /** The state that the next boot goes back to. */
  readonly next: string;
  readonly homes: readonly string[];
  readonly kernel: string;
  /** Roots that can be booted, where there may be several, with what is written down of boots. */
  readonly heads: readonly string[];
  readonly lastUsedAt: string | null;
  readonly files: Record<string, string>;
  readonly menu: string;
  /** What the boot loader was asked to start once. */
  readonly entry: string;
}

export async function look(host: SteppingHost): Promise<Look> {
  const dump = await host.dump();
  const [machine] = dump.machines;
  // What is told as being removed is none any more, and is gone after the next start.
  const states = (machine?.states ?? []).filter(({ removing }) => !removing);
  const nameOf = ({ automatic, name }: DumpedState) => (automatic ? 'automatic' : name);
  const files = { ...host.contents(host.tree), ...host.contents(host.homes) };
  const menu = join(host.boot, 'grub/croft.cfg');
  return {
    states: states
      .map((state) => `${state.user ?? 'system'} ${nameOf(state)} ${state.members.length}`)
      .sort(),
    said: states.flatMap(({ name, description, pinned }) =>
      description === '' && !pinned ? [] : [`${name}: ${description}${pinned ? ', pinned' : ''}`],
    ),
    next: states.find(({ id }) => id === machine?.nextState)?.name ?? '',
    homes: dump.homes.map(
      ({ user, path, machines }) => `${user} ${path} ${machines.length} ${existsSync(path)}`,
    ),
    kernel: machine?.kernel ?? '',
    heads: host.storage.heads?.() ?? [],
    lastUsedAt: machine?.lastUsedAt ?? null,
    files,
    menu: existsSync(menu) ? readFileSync(menu, 'utf8') : '',
    entry: host.storage.nextEntry?.() ?? '',
  };
}

/** Without what differs from one time it happens to the next. */
const comparable = ({ lastUsedAt, ...seen }: Look) => ({ ...seen, wasUsed: lastUsedAt !== null });

/** One of the operations with its daemon, and the steps that it is known to have. */
export interface Trial {
  readonly subject: Subject;
  readonly host: SteppingHost;
  readonly steps: string[];
  /** Those that one of its starts was killed before. */
  readonly startsKilled: Set<string>;
  /** How everything looked before this round. */
  before: Look | undefined;
}

/** Gives an operation a daemon of its own. */
export function makeTrial(subject: Subject, host: SteppingHost): Trial {
  return { subject, host, steps: [], startsKilled: new Set(), before: undefined };
}

/** Makes it possible that the operation happens, and looks. */
export async function prepareRound(trial: Trial, round: number): Promise<void> {
  await trial.subject.prepare(trial.host, round);
  trial.before = await look(trial.host);
  expect([trial.subject.name, happenedIn(trial, trial.before, round)]).toEqual([trial.subject.name, false]);
}

/** Right after the next start it has happened as a whole or not at all, and index and storage agree. */
export async function checkSettled(trial: Trial, round: number, step: string): Promise<void> {
  try {
    await checkEach(trial, round, step);
  } catch (error) {
    const said = [`${trial.subject.name}, ${step}; the daemon said:`, ...trial.host.warnings].join('\n  ');
    throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
  }
}

async function checkEach(trial: Trial, round: number, step: string): Promise<void> {
  const { subject, host } = trial;
  const at = `${subject.name}, ${step}`;
  const settled = await look(host);
  const happened = happenedIn(trial, settled, round);
  const asksAgain = isAskedAgain(trial, happened, round);
  const isDone = happened || asksAgain;
  const states = await checkStored(host, at);
  if (!happened && subject.goesOn === undefined)
    expect([at, comparable(settled)]).toEqual([at, comparable(trial.before as Look)]);
  if (asksAgain) {
    const answer = await subject.ask(host, round);
    expect([at, answer]).toEqual([at, expect.objectContaining({ code: 0 })]);
    const after = await look(host);
    expect([at, happenedIn(trial, after, round)]).toEqual([at, true]);
    if (happened) checkUnchanged(at, settled, after, subject.savesFirst === true);
    await checkRefresh(host, at, await checkStored(host, at));
  } else if (isDone) {
    await checkRefresh(host, at, states);
  }
  if (isDone) await subject.holds?.(host, round);
  // Elsewhere this takes twenty processes, and one call after the crash is enough.
  if (host.storage.driver === 'vault' || (isDone && !asksAgain)) await checkNext(host, at);
}

/** @param mayBeSaved as automatic states, one of each at most */
function checkUnchanged(at: string, before: Look, after: Look, mayBeSaved: boolean): void {
  const more = after.states.length - before.states.length;
  const expected = [...before.states];
  if (mayBeSaved && more > 0) expected.push('system automatic 1', 'ada automatic 1');
  expect([at, comparable(after)]).toEqual([at, comparable({ ...before, states: expected.sort() })]);
}

/**
 * Once it happened a name is no longer free, or a user is linked: whoever asks again is told, or gets the same. Where nothing of it
 * did, which is looked at, the next round asks for the like on what this one left and gets further by a step; so on ZFS, where it
 * takes thirty processes, every third time is enough.
 */
function isAskedAgain({ subject, host }: Trial, happened: boolean, round: number): boolean {
  if (happened) return subject.twice === true;
  const { again, goesOn, twice } = subject;
  return host.storage.driver !== 'zfs' || (again ?? goesOn ?? twice ?? false) || round % 3 === 0;
}

/** The storage holds what the daemon knows, and nothing besides. @returns how many states that are */
async function checkStored(host: SteppingHost, at: string): Promise<number> {
  const dump = await host.dump();
  try {
    host.storage.check(dump, host.folder);
  } catch (error) {
    throw new Error(`${at}: ${(error as Error).message}`, { cause: error });
  }
  const states = dump.machines.flatMap((machine) => machine.states);
  expect([at, states.filter(({ partial, removing }) => partial || removing)]).toEqual([at, []]);
  return states.length;
}

/** A look at the whole storage finds what is known. */
async function checkRefresh(host: SteppingHost, at: string, states: number): Promise<void> {
  const { lines } = await host.must('Refresh');
  expect([at, lines]).toEqual([at, [`nothing differed: ${counted(states, 'state')}`]]);
}

/** Other calls work, and what they leave is what was there. */
async function checkNext(host: SteppingHost, at: string): Promise<void> {
  const before = await look(host);
  for (const operation of ['SaveSystemState', 'RemoveSystemState']) {
    const answer = await host.call(operation, { stateName: 'next' });
    expect([at, operation, answer]).toEqual([at, operation, expect.objectContaining({ code: 0 })]);
  }
  expect([at, comparable(await look(host)).states]).toEqual([at, before.states]);
}

function happenedIn({ subject, before }: Trial, seen: Look, round: number): boolean {
  return subject.happened(seen, round, before ?? seen);
}
