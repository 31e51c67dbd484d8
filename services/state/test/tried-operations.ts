import { expect } from 'vitest';
import { operationNames } from '../src/rpc.ts';
import { extraNames } from '../src/rpc-extras.ts';
import { FORCED_REMOVAL } from './forced-removal.ts';
import { SteppingHosts, type SteppingStorage } from './stepping-hosts.ts';
import type { Subject } from './subjects.ts';
import { BOOTS } from './written-boots.ts';
import { WRITES } from './written-operations.ts';

type Driver = SteppingStorage['driver'];

const SUBJECTS = [...WRITES, ...BOOTS, FORCED_REMOVAL];

/** The writes that are tried on a storage. */
export function subjectsOn(driver: Driver): readonly Subject[] {
  return SUBJECTS.filter(({ has }) => has[driver] !== undefined);
}

/**
 * Some of them by groups, of which one is tried after another: with a lot to do at once zfs-fuse gets stuck.
 * @param wanted by their names
 */
export function groupsOn(
  driver: Driver,
  size: number,
  wanted: (name: string) => boolean = () => true,
): { names: string; subjects: readonly Subject[] }[] {
  const subjects = subjectsOn(driver).filter(({ name }) => wanted(name));
  const firsts = subjects.filter((_, at) => at % size === 0);
  return firsts.map((_, at) => {
    const group = subjects.slice(at * size, (at + 1) * size);
    return { names: group.map(({ name }) => name).join(', '), subjects: group };
  });
}

/** Operations that write nothing, with what they are asked, and the code that they answer where that is not 0. */
const READS: Readonly<Record<string, { readonly request?: object; readonly code?: number }>> = {
  Version: {},
  Status: {},
  MachineShow: {},
  MachineList: {},
  DumpStates: {},
  // The log of these daemons has no level.
  LoggingLevel: { request: { logginglevel: 1 }, code: 9 },
  Trace: { request: { type: 'trace', duration: 0 } },
  Reload: {},
  Diff: { request: { stateName: 'one' } },
  Export: { request: { stateName: 'one' } },
  Adopt: { code: 9 },
};

/** Why no step of an operation is stopped. */
const UNTRIED: Readonly<Record<string, string>> = {
  Watch: 'has no end, and tells only what is in memory',
  DaemonStop: 'writes a checkpoint only, as every start does, and all that fails here is followed by a stop',
  Refresh: 'does what every start does, and is called after each step',
};

/**
 * Every operation of the tables has its writes tried on a storage, or writes nothing there, which is looked at, or a reason: one
 * that comes new fails this until it has one of them.
 */
export async function checkTable(storage: SteppingStorage): Promise<void> {
  const { driver } = storage;
  const tried = new Set(subjectsOn(driver).map(({ operation }) => operation));
  const reads = Object.keys(READS).filter((name) => !tried.has(name));
  expect([...tried, ...reads, ...Object.keys(UNTRIED)].sort()).toEqual(
    [...operationNames, ...extraNames].sort(),
  );
  const hosts = new SteppingHosts();
  const host = hosts.add(storage);
  await hosts.start([host]);
  await host.must('SaveSystemState', { stateName: 'one' });
  for (const name of reads) {
    const { request = {}, code = 0 } = READS[name] ?? {};
    let step: string | undefined;
    void hosts.ended(host.name).then((ended) => {
      step = ended;
    });
    await host.watch('fail', []);
    const isExtra = (extraNames as readonly string[]).includes(name);
    const answer = await (isExtra ? host.extra(name, request) : host.call(name, request));
    await host.unwatch();
    expect([name, step, answer]).toMatchObject([name, undefined, { code }]);
  }
}
