import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planMenu } from '../services/state/src/rules/boot/boot-menu.ts';
import { planCollection } from '../services/state/src/rules/states/gc-plan.ts';
import { DEFAULT_POLICY } from '../services/state/src/rules/states/policy.ts';
import { aMachine, aModel, aState } from '../services/state/test/models.ts';
import { type Figure, median } from './figure.ts';
import { type Daemon, startDaemon } from './state/daemon.ts';
import { cancelCall, countMessages } from './state/raw-call.ts';

const STATES = 10_000;
/** To see how the time of planning grows. */
const LARGER = 4;
const HOUR_MS = 3_600_000;
const CALLS = 200;
/** Of design §6. */
const READY_MS = 300;
const SHOW_MS = 50;
const PLAN_MS = 100;
const LINES_PER_SECOND = 50_000;
const MEMORY_MIB = 150;
/** Of the issue. */
const CANCEL_MS = 100;
const CANCELLED = 20;

/** A daemon with 10,000 states, one an hour, each with a record of its own. */
export async function* figures(): AsyncGenerator<Figure> {
  yield* plans();
  const place = await mkdtemp(join(tmpdir(), 'croft-bench-state-'));
  try {
    await mkdir(join(place, 'tree'));
    await writeFile(join(place, 'tree/hosts'), 'a machine');
    await makeStates(place);
    // The first start finds states that its checkpoint does not have.
    await (await startDaemon(place))[Symbol.asyncDispose]();
    const ready: number[] = [];
    for (let round = 0; round < 5; round++) {
      await using daemon = await startDaemon(place);
      ready.push(daemon.startedMs);
    }
    yield limited('start of a daemon until its health check answers', median(ready), READY_MS);
    await using daemon = await startDaemon(place);
    yield* memory(daemon, 'after its start');
    yield* answers(daemon);
    yield* memory(daemon, `after ${2 * CALLS} such calls`);
    yield* stream(daemon, place);
    yield* cancellation(daemon);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The decisions, which are pure. */
async function* plans(): AsyncGenerator<Figure> {
  const now = new Date();
  const modelOf = (length: number) => {
    const createdAt = (at: number) => new Date(now.getTime() - at * HOUR_MS).toISOString();
    const states = Array.from({ length }, (_, at) =>
      aState({ id: `s${at}`, automatic: true, createdAt: createdAt(at) }),
    );
    return aModel({ states });
  };
  const model = modelOf(STATES);
  const kernels = [{ name: 'vmlinuz-1', linux: '/boot/vmlinuz-1', initrd: undefined }];
  const facts = { system: 'Linux', kernels, commandLine: 'ro' };
  const collection = repeated(() => planCollection(model, DEFAULT_POLICY, now, false));
  yield limited('planning a garbage collection', collection, PLAN_MS);
  const larger = modelOf(LARGER * STATES);
  const ofLarger = repeated(() => planCollection(larger, DEFAULT_POLICY, now, false));
  const what = `planning one of ${LARGER} times as many against ${LARGER} times as long`;
  yield compared(what, ofLarger, LARGER * collection);
  const menu = repeated(() => planMenu(model, aMachine(), DEFAULT_POLICY.menu, facts as never));
  yield limited('planning a boot menu', menu, PLAN_MS);
}

async function* answers(daemon: Daemon): AsyncGenerator<Figure> {
  const calls = {
    MachineList: () => daemon.call('MachineList', {}),
    MachineShow: () => daemon.call('MachineShow', { machineId: '', full: false }),
  };
  for (const [operation, ask] of Object.entries(calls)) {
    const times: number[] = [];
    for (let call = 0; call < CALLS; call++) times.push((await ask()).ms);
    const p99 = times.sort((a, b) => a - b)[Math.ceil(CALLS * 0.99) - 1] as number;
    yield limited(`${operation}, p99 of ${CALLS} calls`, p99, SHOW_MS);
  }
}

async function* memory(daemon: Daemon, when: string): AsyncGenerator<Figure> {
  const status = await readFile(`/proc/${daemon.pid}/status`, 'utf8');
  const rss = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  yield { ...limited(`memory of the daemon (RSS) ${when}`, rss, MEMORY_MIB), unit: 'MiB' };
}

/** Only one trace is taken at a time, so the next one is let in when the one before has ended. */
async function* cancellation(daemon: Daemon): AsyncGenerator<Figure> {
  for (const type of ['cpu', 'trace']) {
    const times: number[] = [];
    for (let round = 0; round < CANCELLED; round++) {
      await cancelCall(daemon.address, 'Trace', { type, duration: 600 }, 50);
      const begun = performance.now();
      await untilTaken(daemon);
      times.push(performance.now() - begun);
    }
    yield limited(
      `Trace of ${type} cancelled until the next is let in, slowest of ${CANCELLED}`,
      Math.max(...times),
      CANCEL_MS,
    );
  }
}

async function untilTaken(daemon: Daemon): Promise<void> {
  for (;;) {
    const refusal = await daemon.call('Trace', { type: 'trace', duration: 0 }).then(
      () => undefined,
      (error: Error) => error,
    );
    if (refusal === undefined) return;
    if (!refusal.message.includes('another trace')) throw refusal;
  }
}

/** A Refresh that finds all states gone has as many lines to tell, and one that finds them again. */
async function* stream(daemon: Daemon, place: string): AsyncGenerator<Figure> {
  const folder = join(place, 'state/vault/states');
  const names = await readdir(folder);
  const records = await Promise.all(names.map((name) => readFile(join(folder, name))));
  for (const name of names) await unlink(join(folder, name));
  const sent = await countMessages(daemon.address, 'Refresh', {});
  yield promised(
    told(`stream of ${sent.messages} log lines on the socket, finding them included`, sent.messages, sent.ms),
  );
  for (const [at, name] of names.entries()) await writeFile(join(folder, name), records[at] as Buffer);
  const { lines, ms } = await daemon.call('Refresh', {});
  yield told(`the same, reading ${STATES} records and what a client takes included`, lines, ms);
}

function told(what: string, lines: number, ms: number): Figure {
  const perSecond = lines / (ms / 1000);
  return {
    bench: 'state-many',
    figure: `${what}, 50,000 messages/s`,
    ratio: perSecond / LINES_PER_SECOND,
    ours: perSecond,
    theirs: LINES_PER_SECOND,
    unit: 'messages/s',
  };
}

/** As many records as states, made after one that the daemon wrote. */
async function makeStates(place: string): Promise<void> {
  {
    await using daemon = await startDaemon(place);
    await daemon.run('save', 'first');
  }
  const folder = join(place, 'state/vault/states');
  const [first] = (await readdir(folder)) as [string];
  const record = JSON.parse(await readFile(join(folder, first), 'utf8')) as {
    version: number;
    states: object[];
  };
  const [state] = record.states as [{ createdAt: string; members: object[] }];
  for (let at = 1; at < STATES; at++) {
    const id = randomUUID();
    const createdAt = new Date(Date.parse(state.createdAt) - at * HOUR_MS).toISOString();
    const members = state.members.map((member) => ({ ...member, guid: randomUUID() }));
    const states = [{ ...state, id, name: `n${at}`, createdAt, members }];
    await writeFile(join(folder, `${id}.json`), JSON.stringify({ ...record, states }));
  }
}

function repeated(work: () => unknown): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return median(times);
}

function limited(what: string, ours: number, theirs: number): Figure {
  return promised(compared(what, ours, theirs));
}

function compared(what: string, ours: number, theirs: number): Figure {
  const figure = `${what}, 10,000 states`;
  return { bench: 'state-many', figure, ratio: theirs / ours, ours, theirs, unit: 'ms' };
}

const promised = (figure: Figure): Figure => ({ ...figure, limit: '≥ 1' });
