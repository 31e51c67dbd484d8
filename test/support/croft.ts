import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The checkout under test. */
export const root = join(import.meta.dirname, '../..');

/** A Croft started the way a person starts it, on free ports and a data folder of its own. */
export interface Croft {
  readonly auth: string;
  readonly forge: string;
  readonly socket: string;
  /** What it printed for the person at the terminal. */
  readonly printed: string;
  /** Ends it with a signal to its whole process group, as a terminal does; returns the exit code, or the signal. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** The places one Croft uses, the same at every start. */
export interface Place {
  data: string;
  authPort: number;
  forgePort: number;
  env?: Readonly<Record<string, string>>;
  /** In place of `npm start`. */
  command?: readonly string[];
}

/** Chooses free ports for a data folder. */
export async function placeFor(data: string, env: Record<string, string> = {}): Promise<Place> {
  const [authPort, forgePort] = await Promise.all([freePort(), freePort()]);
  return { data, authPort, forgePort, env };
}

/** Runs `npm start` and returns once everything answers. */
export async function startCroft(place: Place): Promise<Croft> {
  const [program = 'npm', ...args] = place.command ?? ['npm', 'start', '--silent'];
  const child = spawn(program, args, {
    cwd: root,
    // A group of its own, so that a signal to the group reaches npm and everything below, and nothing else.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(place),
  });
  let printed = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const auth = `http://127.0.0.1:${place.authPort}`;
  const forge = `http://127.0.0.1:${place.forgePort}`;
  const ready = Promise.all([answers(`${auth}/health`, child), answers(`${forge}/api/v1/version`, child)]);
  await ready.catch((error: Error) => {
    throw new Error(`${error.message}\n${printed}\n${errors}`);
  });
  while (!/ready/i.test(printed)) {
    if (child.exitCode !== null) throw new Error(`Croft ended before it was ready\n${printed}\n${errors}`);
    await sleep(10);
  }
  return {
    auth,
    forge,
    socket: join(place.data, 'state/statesvc.sock'),
    get printed() {
      return printed;
    },
    async stop(signal = 'SIGTERM') {
      const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
      process.kill(-(child.pid as number), signal);
      const [code, by] = await ended;
      return code ?? by;
    },
  };
}

/** The environment of a Croft at a place; nothing of the developer's own settings reaches it. */
export function environment(place: Place): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return {
    PATH,
    HOME,
    CROFT_DATA: place.data,
    AUTHSVC_API_PORT: String(place.authPort),
    FORGE_HTTP_PORT: String(place.forgePort),
    NODE_ENV: 'development',
    // One client makes all requests of a test.
    AUTHSVC_RATE_LIMIT_ENABLED: 'false',
    ...place.env,
  };
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) {
    if (child.exitCode !== null) throw new Error(`Croft ended with ${child.exitCode} before ${url} answered`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
  }
  throw new Error(`${url} did not answer within a minute`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
