import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authSettings, migrateAuth, startAuth } from '@croft/auth';
import { type RunningService, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import pg from 'pg';
import { type Figure, median } from './figure.ts';

const CONCURRENCY = 50;
const CONNECTIONS = 20;
const ROUNDS = 3;
const ROUND_MS = 1_000;
const WARM_UP_MS = 1_200;

const settings = readSettings(authSettings, {
  AUTHSVC_SITE_URL: 'http://127.0.0.1',
  AUTHSVC_API_EXTERNAL_URL: 'http://127.0.0.1',
  AUTHSVC_API_PORT: '0',
  AUTHSVC_JWT_SECRET: 'the secret of a benchmark',
  AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  AUTHSVC_DB_MAX_POOL_SIZE: String(CONNECTIONS),
});

/**
 * The refresh grant over HTTP, 50 at a time, against the very statement it runs, on the bare driver with as many
 * connections: what the service adds to its database. The service is a process of its own, the load comes from here.
 */
export async function* figures(): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'));
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog, tuning: 'test' });
  const databaseUrl = postgres.url('croft');
  await migrateAuth({ settings, databaseUrl, log: silentLog });
  const server = fork(import.meta.filename, [databaseUrl, folder]);
  try {
    const [address] = (await once(server, 'message')) as [string];
    const service = await overHttp(address);
    const statement = await bareStatement(databaseUrl, address);
    await perSecond(statement.refresh, WARM_UP_MS);
    await perSecond(service.refresh, WARM_UP_MS);
    const ours: number[] = [];
    const theirs: number[] = [];
    // Taking turns, so that whatever else the machine does hits both.
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await perSecond(statement.refresh, ROUND_MS));
      ours.push(await perSecond(service.refresh, ROUND_MS));
    }
    await statement.close();
    await service.close();
    const measured = { ours: median(ours), theirs: median(theirs), unit: 'refreshes/s', limit: '≥ 0.4' };
    const ratio = measured.ours / measured.theirs;
    yield { bench: 'refresh', figure: 'refresh grants over HTTP, 50 at once', ratio, ...measured };
  } finally {
    const ended = once(server, 'exit');
    if (server.exitCode === null && server.kill()) await ended;
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** How often a second the work is done, by as many workers at a time as there may be requests. */
async function perSecond(work: (worker: number) => Promise<void>, milliseconds: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const workers = Array.from({ length: CONCURRENCY }, async (_, worker) => {
    while (performance.now() - startedAt < milliseconds) {
      await work(worker);
      count++;
    }
  });
  await Promise.all(workers);
  return (count * 1000) / (performance.now() - startedAt);
}

/** Something that can refresh the session of each worker, again and again. */
interface Refreshing {
  refresh(this: void, worker: number): Promise<void>;
  close(): Promise<void>;
}

async function overHttp(address: string): Promise<Refreshing> {
  const clients = await Promise.all(Array.from({ length: CONCURRENCY }, () => client(address)));
  const tokens = await Promise.all(clients.map((post, worker) => signUp(post, `http-${worker}`)));
  return {
    async refresh(worker) {
      const post = clients[worker] as Post;
      tokens[worker] = await post('/token?grant_type=refresh_token', { refresh_token: tokens[worker] });
    },
    async close() {
      await Promise.all(clients.map((post) => post.end()));
    },
  };
}

/** Sends a body over a connection of its own and returns the refresh token of the answer. */
interface Post {
  (path: string, body: object): Promise<string>;
  end(): Promise<unknown>;
}

function signUp(post: Post, name: string): Promise<string> {
  return post('/signup', { email: `${name}@example.com`, password: 'correct horse' });
}

/** A client that does no more than it must: its time would count as the service's. */
async function client(address: string): Promise<Post> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let answered: PromiseWithResolvers<string> | undefined;
  socket.setEncoding('latin1').on('data', (part: string) => {
    received += part;
    const head = received.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (head < 0 || received.length < head + 4 + length) return;
    const token = received.startsWith('HTTP/1.1 200')
      ? /"refresh_token":"([^"]+)"/.exec(received)?.[1]
      : undefined;
    if (token === undefined) answered?.reject(new Error(received));
    else answered?.resolve(token);
    received = '';
  });
  const post = (path: string, body: object): Promise<string> => {
    answered = Promise.withResolvers();
    const text = JSON.stringify(body);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    return answered.promise;
  };
  return Object.assign(post, { end: () => once(socket.end(), 'close') });
}

/** A family of tokens, as the table has it. */
interface Family {
  id: string;
  hash: Buffer;
}

async function bareStatement(databaseUrl: string, address: string): Promise<Refreshing> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
  const post = await client(address);
  for (let worker = 0; worker < CONCURRENCY; worker++) await signUp(post, `bare-${worker}`);
  await post.end();
  const families = await pool.query<Family>(`
    select t.session_id as id, t.token_hash as hash from auth.refresh_tokens t
    join auth.sessions s on s.id = t.session_id join auth.users u on u.id = s.user_id where u.email like 'bare-%'`);
  const statement = await statementOfRefresh(databaseUrl);
  return {
    async refresh(worker) {
      const family = families.rows[worker] as Family;
      const child = randomBytes(32);
      const { rows } = await pool.query<{ rotated: boolean }>(statement(family, child));
      if (rows[0]?.rotated !== true) throw new Error('the statement did not rotate');
      family.hash = child;
    },
    close: () => pool.end(),
  };
}

/** The statement with values for one family. */
type Statement = (family: Family, child: Buffer) => pg.QueryConfig;

/** What a service in this process gives to the driver for one refresh: it cannot drift away from the real one. */
async function statementOfRefresh(databaseUrl: string): Promise<Statement> {
  const service = await start(databaseUrl, tmpdir());
  const post = await client(service.address);
  const token = await signUp(post, 'model');
  const seen: Given[] = [];
  const query = Reflect.get(pg.Pool.prototype, 'query') as (...all: unknown[]) => unknown;
  Reflect.set(pg.Pool.prototype, 'query', function (this: pg.Pool, ...all: unknown[]) {
    seen.push(all[0] as Given);
    return query.apply(this, all);
  });
  await post('/token?grant_type=refresh_token', { refresh_token: token });
  Reflect.set(pg.Pool.prototype, 'query', query);
  await post.end();
  await service.close(100);

  const [model, ...others] = seen.filter(({ text }) => text.includes('refresh_tokens'));
  if (model === undefined || others.length > 0) throw new Error('a refresh is not one statement any more');
  const session = model.values.find((value) => typeof value === 'string' && /^[0-9a-f]{8}-/.test(value));
  const [child, presented] = model.values.filter((value) => Buffer.isBuffer(value));
  return (family, next) => {
    const values = model.values.map((value) => {
      if (value === session) return family.id;
      if (value === child) return next;
      return value === presented ? family.hash : value;
    });
    return { name: 'refresh', text: model.text, values };
  };
}

/** A statement as the driver was given it. */
interface Given {
  text: string;
  values: unknown[];
}

function start(databaseUrl: string, dataFolder: string): Promise<RunningService> {
  const secrets = { atRestKey: new Secret('the key of a benchmark') };
  return startAuth({ settings, databaseUrl, dataFolder, log: silentLog, version: 'bench', secrets });
}

// Forked by `figures`: the service under load.
if (import.meta.main) {
  const [, , databaseUrl = '', dataFolder = ''] = process.argv;
  const service = await start(databaseUrl, dataFolder);
  process.once('SIGTERM', () => void service.close(1_000).then(() => process.exit(0)));
  process.send?.(service.address);
}
