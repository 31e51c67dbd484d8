import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hasProgram, runProgramSync } from '@croft/testing';

/** zfs-fuse has one socket for all, so test files share one that they start. Where it is told of, the programs in `in-turn` know too. */
const [LOCK, PID_FILE, USERS] = ['lock', 'pid', 'users'].map((name) => `/tmp/croft-zfs-fuse.${name}`) as [
  string,
  string,
  string,
];
const ME = join(USERS, `${process.pid}-${randomUUID()}`);
/** What the programs in `in-turn` wait at. */
const TURNS = '/tmp/croft-zfs-fuse.turns';
/** Where daemons keep others from a pool. */
const POOL_LOCKS = '/run/croft-zfs';

/** Where tests and their daemons find programs: nobody comes to zfs-fuse while it mounts or unmounts. */
export const ZFS_PATH = `${join(import.meta.dirname, 'in-turn')}:/usr/sbin:/sbin:/usr/bin:/bin`;

/** What this machine lacks to have pools. */
export function missingForZfs(): string | undefined {
  if (process.getuid?.() !== 0) return 'root, who may make pools,';
  const hasKernel = existsSync('/dev/zfs');
  if (!hasKernel && !existsSync('/dev/fuse')) return '/dev/fuse';
  const program = ['zfs', 'zpool', ...(hasKernel ? [] : ['zfs-fuse'])].find((name) => !hasProgram(name));
  return program === undefined ? undefined : `the program ${program} (package zfs-fuse)`;
}

/** Runs `zfs` or another program and gives what it says. */
export function run(name: string, ...args: readonly string[]): string {
  return runFor(60_000, name, ...args);
}

function runFor(timeout: number, name: string, ...args: readonly string[]): string {
  const environment = { PATH: ZFS_PATH, LC_ALL: 'C' };
  return runProgramSync({ file: name, args, folder: '/', environment, timeoutMs: timeout });
}

/** The same where it may fail. */
export function attempt(name: string, ...args: readonly string[]): string | undefined {
  return unlessItFails(() => run(name, ...args));
}

function unlessItFails<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Whether zfs-fuse, or the kernel, answers. One that is ending takes a question and never does. */
const answers = () => unlessItFails(() => runFor(5000, 'zpool', 'list')) !== undefined;

/** Makes sure that pools can be made, until the tests of this file end. */
export function startZfs(): void {
  inTurn(() => {
    mkdirSync(USERS, { recursive: true });
    writeFileSync(ME, '');
    if (answers()) return;
    mkdirSync('/run/zfs', { recursive: true });
    const child = spawn('zfs-fuse', ['--no-daemon', '--no-kstat-mount', '-a', '0', '-e', '0'], {
      detached: true,
      stdio: 'ignore',
    });
    child.unref();
    writeFileSync(PID_FILE, String(child.pid));
    // On a machine with other work this takes half a minute.
    if (!waitUntil(answers, 60_000)) throw new Error('zfs-fuse did not start');
  });
}

/** Written down, so that it goes with the last test even if its own is killed. @returns where daemons lock a pool */
export function lockOfPool(guid: string): string {
  const path = join(POOL_LOCKS, guid);
  appendFileSync(ME, `${path}\n`);
  return path;
}

/** The last one out ends what the first one began, and removes what is left of all. */
export function stopZfs(): void {
  inTurn(() => {
    const users = existsSync(USERS) ? readdirSync(USERS) : [];
    if (users.some((user) => join(USERS, user) !== ME && isAlive(user))) return rmSync(ME, { force: true });
    if (existsSync(PID_FILE)) endFuse(Number(readFileSync(PID_FILE, 'utf8')));
    const locks = users.flatMap((user) =>
      readFileSync(join(USERS, user), 'utf8').split('\n').filter(Boolean),
    );
    for (const path of [...locks, PID_FILE, TURNS, USERS]) rmSync(path, { recursive: true, force: true });
    // Not when somebody else's daemon has a pool.
    if (existsSync(POOL_LOCKS) && readdirSync(POOL_LOCKS).length === 0) rmdirSync(POOL_LOCKS);
  });
}

/**
 * Until it is gone: one that is still ending, which takes it a minute when a file system is busy, would take the questions of
 * who starts the next one and answer none.
 */
function endFuse(pid: number): void {
  if (!(attempt('cat', `/proc/${pid}/cmdline`) ?? '').includes('zfs-fuse')) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    process.kill(pid, signal);
    if (waitUntil(() => hasEnded(pid), signal === 'SIGTERM' ? 5000 : 60_000)) return;
  }
}

/** Its first thread may have ended, and its command line with it, while another one still writes: until then it has its socket. */
function hasEnded(pid: number): boolean {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  // Whoever started it has not asked for it yet: nothing but its number is left.
  return threads.every((thread) =>
    /^State:\s+[ZX]/m.test(attempt('cat', `/proc/${pid}/task/${thread}/status`) ?? 'State: X'),
  );
}

function isAlive(user: string): boolean {
  return existsSync(`/proc/${Number.parseInt(user, 10)}`);
}

/** The kernel's lock on a file, which goes with whoever is killed while he has it. */
function inTurn(work: () => void): void {
  const lock = new DatabaseSync(LOCK, { timeout: 240_000 });
  try {
    lock.exec('begin exclusive');
    work();
  } finally {
    lock.close();
  }
}

/** Asks again and again. @returns whether it came to be */
function waitUntil(isSo: () => boolean, ms: number): boolean {
  for (const until = Date.now() + ms; Date.now() < until; ) {
    if (isSo()) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  return false;
}
