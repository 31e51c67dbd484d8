import { execFileSync, spawn } from 'node:child_process';
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
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProgram } from '@croft/testing';

/** zfs-fuse has one socket for all, so test files share one that they start. */
const [LOCK, PID_FILE, USERS] = ['lock', 'pid', 'users'].map((name) =>
  join(tmpdir(), `croft-zfs-fuse.${name}`),
) as [string, string, string];
const ME = join(USERS, `${process.pid}-${randomUUID()}`);
/** What `one-mount` waits at. */
const MOUNTS = join(tmpdir(), 'croft-zfs-fuse.mounts');
/** Where daemons keep others from a pool. */
const POOL_LOCKS = '/run/croft-zfs';

/** Where tests and their daemons find programs: two never mount at one time. */
export const ZFS_PATH = `${join(import.meta.dirname, 'one-mount')}:/usr/sbin:/sbin:/usr/bin:/bin`;

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
  return execFileSync(name, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: ZFS_PATH, LC_ALL: 'C' },
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  });
}

/** The same where it may fail. */
export function attempt(name: string, ...args: readonly string[]): string | undefined {
  try {
    return run(name, ...args);
  } catch {
    return undefined;
  }
}

/** Makes sure that pools can be made, until the tests of this file end. */
export function startZfs(): void {
  inTurn(() => {
    mkdirSync(USERS, { recursive: true });
    writeFileSync(ME, '');
    if (attempt('zpool', 'list') !== undefined) return;
    mkdirSync('/run/zfs', { recursive: true });
    const child = spawn('zfs-fuse', ['--no-daemon', '--no-kstat-mount', '-a', '0', '-e', '0'], {
      detached: true,
      stdio: 'ignore',
    });
    child.unref();
    writeFileSync(PID_FILE, String(child.pid));
    for (let waited = 0; attempt('zpool', 'list') === undefined; waited += 100) {
      // On a machine with other work this takes half a minute.
      if (waited > 60_000) throw new Error('zfs-fuse did not start');
      wait(100);
    }
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
    for (const path of [...locks, PID_FILE, MOUNTS, USERS]) rmSync(path, { recursive: true, force: true });
    // Not when somebody else's daemon has a pool.
    if (existsSync(POOL_LOCKS) && readdirSync(POOL_LOCKS).length === 0) rmdirSync(POOL_LOCKS);
  });
}

/**
 * Until it is gone: one that is still ending, which takes it a minute when a file system is busy, would take the questions of
 * who starts the next one and answer none.
 */
function endFuse(pid: number): void {
  // A process that has ended and was not asked for yet has no command line.
  const lives = () => (attempt('cat', `/proc/${pid}/cmdline`) ?? '').includes('zfs-fuse');
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!lives()) return;
    process.kill(pid, signal);
    for (let waited = 0; waited < 5000 && lives(); waited += 100) wait(100);
  }
}

function isAlive(user: string): boolean {
  return existsSync(`/proc/${Number.parseInt(user, 10)}`);
}

function inTurn(work: () => void): void {
  for (let waited = 0; ; waited += 50) {
    try {
      mkdirSync(LOCK);
      break;
    } catch {
      // Whoever was killed while he had it.
      if (waited > 90_000) rmSync(LOCK, { recursive: true, force: true });
      wait(50);
    }
  }
  try {
    work();
  } finally {
    rmdirSync(LOCK);
  }
}

function wait(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
