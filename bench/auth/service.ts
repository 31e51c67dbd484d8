import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type AuthSettings, authSettings, migrateAuth, startAuth } from '@croft/auth';
import { type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import pg from 'pg';

// What the benches of auth share: a service in a process of its own, clients that cost little, and a look at the
// statements it runs.

/** Connections to the database, the service's and the bare driver's. */
export const CONNECTIONS = 20;
/** What everybody in a bench signs in with. */
export const PASSWORD = 'correct horse';
/** The key refresh tokens are sealed with. */
export const AT_REST_KEY = new Secret('the key of a benchmark');

/** What the service under load is told, and what a bench tells it besides. */
const settingsWith = (more: Readonly<Record<string, string>>): AuthSettings =>
  readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'http://127.0.0.1',
    AUTHSVC_API_EXTERNAL_URL: 'http://127.0.0.1',
    AUTHSVC_API_PORT: '0',
    AUTHSVC_JWT_SECRET: 'the secret of a benchmark',
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_DB_MAX_POOL_SIZE: String(CONNECTIONS),
    // All load comes from one client.
    AUTHSVC_RATE_LIMIT_ENABLED: 'false',
    ...more,
  });

/** A service under load, on a database of its own. */
export interface Service extends AsyncDisposable {
  address: string;
  databaseUrl: string;
  /** Event-loop delay of its process since the last call, 99th percentile in milliseconds. */
  loopDelay(): Promise<number>;
}

/** Starts a service in a process of its own; the load comes from here. */
export async function startService(more: Readonly<Record<string, string>> = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  const databaseUrl = postgres.url('croft');
  const service = await startServiceOn(databaseUrl, folder, more);
  return {
    ...service,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The same on a database that is there, which is brought up to date. */
export async function startServiceOn(
  databaseUrl: string,
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Service> {
  await migrateAuth({ settings: settingsWith(more), databaseUrl, log: silentLog });
  const server = fork(import.meta.filename, [databaseUrl, folder, JSON.stringify(more)]);
  const [address] = (await once(server, 'message')) as [string];
  return {
    address,
    databaseUrl,
    async loopDelay() {
      const answered = once(server, 'message') as Promise<[number]>;
      server.send('delay');
      return (await answered)[0];
    },
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'exit');
      if (server.exitCode === null && server.kill()) await ended;
    },
  };
}

/** How often a second the work is done, by so many workers at a time. */
export async function perSecond(
  work: (worker: number) => Promise<void>,
  concurrency: number,
  milliseconds: number,
): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const workers = Array.from({ length: concurrency }, async (_, worker) => {
    while (performance.now() - startedAt < milliseconds) {
      await work(worker);
      count++;
    }
  });
  await Promise.all(workers);
  return (count * 1000) / (performance.now() - startedAt);
}

/** Sends a request over a connection of its own and returns the body of the answer, which must be 200. */
export interface Client {
  send(method: 'GET' | 'POST', path: string, body?: object, bearer?: string): Promise<string>;
  end(): Promise<unknown>;
}

/** A client that does no more than it must: its time would count as the service's. */
export async function client(address: string): Promise<Client> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let parts: string[] = [];
  /** Of the answer, with its head; known once that is there. */
  let [length, received] = [0, 0];
  let answered: PromiseWithResolvers<string> | undefined;
  socket.on('error', (error) => answered?.reject(error));
  socket.setEncoding('latin1').on('data', (part: string) => {
    parts.push(part);
    received += part.length;
    if (length === 0) {
      const text = parts.join('');
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      length = head + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
    }
    if (received < length) return;
    const text = parts.join('');
    [parts, length, received] = [[], 0, 0];
    if (text.startsWith('HTTP/1.1 200')) answered?.resolve(text.slice(text.indexOf('\r\n\r\n') + 4));
    else answered?.reject(new Error(text));
  });
  return {
    send(method, path, body, bearer) {
      answered = Promise.withResolvers();
      const text = body === undefined ? '' : JSON.stringify(body);
      const described = `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
      socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: bench\r\n${bearer === undefined ? '' : `authorization: Bearer ${bearer}\r\n`}${body === undefined ? '' : described}\r\n${text}`,
      );
      return answered.promise;
    },
    end: () => once(socket.end(), 'close'),
  };
}

/** Tokens of a session. */
export interface Session {
  access_token: string;
  refresh_token: string;
}

/** Makes a user of that name, who is signed in. */
export async function signUp(by: Client, name: string): Promise<Session> {
  const email = `${name}@example.com`;
  return JSON.parse(await by.send('POST', '/signup', { email, password: PASSWORD })) as Session;
}

/** A statement as the driver was given it. */
export interface Given {
  text: string;
  values: unknown[];
}

/**
 * The one statement a request runs, as a service in this process gives it to the driver: a bench of it cannot drift
 * away from the real one.
 */
export async function statementOf(
  databaseUrl: string,
  request: (by: Client, session: Session) => Promise<unknown>,
): Promise<Given> {
  const service = await start(databaseUrl, tmpdir(), {});
  const by = await client(service.address);
  const session = await signUp(by, 'model');
  const seen: Given[] = [];
  const query = Reflect.get(pg.Client.prototype, 'query') as (...all: unknown[]) => unknown;
  Reflect.set(pg.Client.prototype, 'query', function (this: pg.Client, ...all: unknown[]) {
    if (typeof all[0] === 'object') seen.push(all[0] as Given);
    return query.apply(this, all);
  });
  await request(by, session);
  Reflect.set(pg.Client.prototype, 'query', query);
  await by.end();
  await service.close(100);
  const [model, ...others] = seen.filter(({ text }) => text.includes('users'));
  if (model === undefined || others.length > 0) throw new Error('the request is not one statement any more');
  return model;
}

function start(
  databaseUrl: string,
  dataFolder: string,
  more: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const secrets = { atRestKey: AT_REST_KEY };
  const settings = settingsWith(more);
  return startAuth({ settings, databaseUrl, dataFolder, log: silentLog, version: 'bench', secrets });
}

// Forked by `startService`: the service under load.
if (import.meta.main) {
  const [, , databaseUrl = '', dataFolder = '', more = '{}'] = process.argv;
  const service = await start(databaseUrl, dataFolder, JSON.parse(more) as Record<string, string>);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('message', () => {
    process.send?.(delay.percentile(99) / 1e6);
    delay.reset();
  });
  process.once('SIGTERM', () => void service.close(1_000).then(() => process.exit(0)));
  process.send?.(service.address);
}
