import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { skipWithout } from '@croft/testing';
import { onTestFinished, type TestContext } from 'vitest';
import { type DaemonOptions, startDaemon, temporaryFolder } from '../daemon.ts';

/** Users that every Debian has, and what they are here. */
export const users = {
  /** Has a home and states of it. */
  ada: { name: 'nobody', uid: 65_534, gid: 65_534 },
  other: { name: 'bin', uid: 2, gid: 2 },
  /** Its primary group is the one that administrates. */
  operator: { name: 'daemon', uid: 1, gid: 1 },
  root: { name: 'root', uid: 0, gid: 0 },
} as const;

/** A user of this machine. */
export interface OtherUser {
  readonly uid: number;
  readonly gid: number;
}

/** Calls that another process makes as somebody else. */
export interface CallsAs extends OtherUser {
  readonly groups: readonly number[];
  readonly address: string;
  /** So many connections at once, each with all calls one after the other. */
  readonly connections: number;
  readonly deadlineMs: number;
  /** Of `StateService` and `StateExtras`; one that streams its requests sends none. */
  readonly calls: readonly {
    readonly name: string;
    readonly request: object;
    readonly metadata?: Readonly<Record<string, string>>;
  }[];
}

/** What such a call came to. */
export interface ShortAnswer {
  readonly name: string;
  code: number;
  details: string;
  messages: number;
  readonly lines: string[];
}

/** Makes calls as somebody else. */
export async function callAs(
  { uid, gid }: OtherUser,
  address: string,
  calls: CallsAs['calls'],
  { connections = 1, deadlineMs = 30_000 } = {},
): Promise<ShortAnswer[]> {
  const given: CallsAs = { uid, gid, groups: [], address, calls, connections, deadlineMs };
  const script = join(import.meta.dirname, 'call-as.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(given)], {
    timeout: 150_000,
  });
  return JSON.parse(stdout) as ShortAnswer[];
}

/** A process can be somebody else only when it begins as root. */
export function needRoot(context: TestContext): void {
  if (process.getuid?.() !== 0) skipWithout(context, 'the right to be another user');
}

/** A daemon that another process runs as somebody else. */
export interface DaemonAs extends OtherUser {
  readonly folder: string;
  readonly settings: Record<string, string>;
}

/** Starts a daemon that is somebody else's, with a socket for everybody. @returns its address */
export async function startDaemonAs({ uid, gid }: OtherUser): Promise<string> {
  const folder = temporaryFolder();
  for (const name of ['data', 'run', 'system']) {
    mkdirSync(join(folder, name), { mode: 0o755 });
    chownSync(join(folder, name), uid, gid);
  }
  chmodSync(folder, 0o755);
  const given: DaemonAs = {
    uid,
    gid,
    folder: join(folder, 'data/state'),
    settings: {
      STATESVC_SOCKET: join(folder, 'run/public.sock'),
      STATESVC_SOCKET_MODE: '0666',
      STATESVC_VAULT_SYSTEM: join(folder, 'system'),
      STATESVC_MIN_FREE: '0',
      STATESVC_POLICY: '/nonexistent',
      STATESVC_BOOT_LOADER: 'none',
    },
  };
  const script = join(import.meta.dirname, 'daemon-as.ts');
  const daemon = spawn(process.execPath, [script, JSON.stringify(given)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    const ended = once(daemon, 'exit');
    daemon.stdin.end();
    await ended;
  });
  const [address] = (await once(daemon.stdout, 'data')) as [Buffer];
  return address.toString().trim();
}

/** Starts a daemon whose socket every user can reach, in a folder that everybody may enter. */
export async function startPublicDaemon({ settings, ...options }: DaemonOptions = {}) {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const daemon = await startDaemon({
    // What stops the daemon would end the test with it.
    onStop: () => {},
    ...options,
    settings: {
      STATESVC_SOCKET: join(folder, 'public.sock'),
      STATESVC_SOCKET_MODE: '0666',
      STATESVC_ADMIN_GROUP: users.operator.name,
      ...settings,
    },
  });
  return daemon;
}

/** Harm that another process does as somebody else. */
export interface FloodAs extends OtherUser {
  /** Of the socket. */
  readonly path: string;
  /** What is called, such as `/statesvc.StateExtras/Watch`; without it connections are opened and closed in a loop. */
  readonly method?: string;
  readonly connections: number;
  /** Calls on each connection. */
  readonly streams: number;
}

/** Starts to do harm, until `stop` or the end of the test. @returns the gRPC statuses of what was refused, as they come */
export async function floodAs(flood: FloodAs) {
  const script = join(import.meta.dirname, 'flood-as.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(flood)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  onTestFinished(stop);
  const statuses: number[] = [];
  child.stdout.on('data', (data: Buffer) => statuses.push(...String(data).trim().split('\n').map(Number)));
  await once(child.stdout, 'data');
  return { statuses, stop };
}
