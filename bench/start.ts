import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, median } from './figure.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 5;

/** What a start may take, with data there and without, and what Croft may hold when nobody asks for anything. */
const WARM_SECONDS = 1.5;
const FRESH_SECONDS = 5;
const IDLE_MIB = 160;

/** Time from the command to the greeting, which comes after every service has answered, and memory at rest. */
export async function* figures(): AsyncGenerator<Figure> {
  const base = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  try {
    const fresh: number[] = [];
    const warm: number[] = [];
    const main: number[] = [];
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const data = join(base, String(round));
      const first = await start(data);
      fresh.push(first.seconds);
      await first.stop();
      const second = await start(data);
      warm.push(second.seconds);
      await sleep(2000); // what a start leaves behind is collected by then
      const processes = await family(second.pid, data);
      main.push(await memory(second.pid, 'Rss'));
      all.push(sum(await Promise.all(processes.map((pid) => memory(pid, 'Pss')))));
      await second.stop();
    }
    yield figure('warm start to ready', median(warm), WARM_SECONDS, 's', '≥ 1');
    yield figure('fresh start to ready', median(fresh), FRESH_SECONDS, 's', '≥ 1');
    yield figure('idle RSS of the Croft process', median(main), IDLE_MIB, 'MiB', '≥ 1');
    yield figure('idle PSS with PostgreSQL and the git broker', median(all), IDLE_MIB, 'MiB');
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

function figure(name: string, ours: number, theirs: number, unit: string, limit?: string): Figure {
  const measured = { bench: 'start', figure: name, ratio: theirs / ours, ours, theirs, unit };
  return limit === undefined ? measured : { ...measured, limit };
}

interface Started {
  pid: number;
  seconds: number;
  stop(): Promise<void>;
}

/** As a person starts it, on free ports. */
async function start(data: string): Promise<Started> {
  const begun = performance.now();
  const child = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    detached: true, // a group of its own, as a terminal gives it
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      CROFT_DATA: data,
      LOG_LEVEL: 'error',
      AUTHSVC_API_PORT: '0',
      FORGE_HTTP_PORT: '0',
    },
  });
  await greeted(child);
  const seconds = (performance.now() - begun) / 1000;
  return {
    pid: Number(await readFile(join(data, 'lock.pid'), 'utf8')),
    seconds,
    async stop() {
      const ended = once(child, 'exit');
      process.kill(-(child.pid as number), 'SIGTERM');
      await ended;
    },
  };
}

async function greeted(child: ChildProcess): Promise<void> {
  let printed = '';
  for await (const chunk of (child.stdout as NonNullable<typeof child.stdout>).iterator({
    destroyOnReturn: false,
  })) {
    printed += String(chunk);
    if (printed.includes('is ready after')) return;
  }
  throw new Error('Croft ended before it was ready');
}

/** The process, its descendants, and the database server, which has a session of its own. */
async function family(pid: number, data: string): Promise<number[]> {
  const postmaster = Number(
    (await readFile(join(data, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0],
  );
  const parents = new Map<number, number>();
  for (const entry of await readdir('/proc')) {
    const status = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/status`, 'utf8').catch(() => '') : '';
    const parent = /^PPid:\t(\d+)/m.exec(status)?.[1];
    if (parent !== undefined) parents.set(Number(entry), Number(parent));
  }
  const below = (root: number): number[] =>
    [...parents].filter(([, parent]) => parent === root).flatMap(([child]) => [child, ...below(child)]);
  return [...new Set([pid, ...below(pid), postmaster, ...below(postmaster)])];
}

/** In MiB. RSS counts shared pages in full, PSS by their share. */
async function memory(pid: number, kind: 'Rss' | 'Pss'): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${kind}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
