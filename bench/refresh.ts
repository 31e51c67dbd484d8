import { randomBytes } from 'node:crypto';
import pg from 'pg';
import {
  CONNECTIONS,
  client,
  type Given,
  perSecond,
  signUp,
  startService,
  statementOf,
} from './auth/service.ts';
import { type Figure, median } from './figure.ts';

const CONCURRENCY = 50;
const ROUNDS = 3;
const ROUND_MS = 1_000;
const WARM_UP_MS = 1_200;

/**
 * The refresh grant over HTTP, 50 at a time, against the very statement it runs, on the bare driver with as many
 * connections: what the service adds to its database. The service is a process of its own, the load comes from here.
 */
export async function* figures(): AsyncGenerator<Figure> {
  await using server = await startService();
  const service = await overHttp(server.address);
  const statement = await bareStatement(server.databaseUrl, server.address);
  await perSecond(statement.refresh, CONCURRENCY, WARM_UP_MS);
  await perSecond(service.refresh, CONCURRENCY, WARM_UP_MS);
  const ours: number[] = [];
  const theirs: number[] = [];
  // Taking turns, so that whatever else the machine does hits both.
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await perSecond(statement.refresh, CONCURRENCY, ROUND_MS));
    ours.push(await perSecond(service.refresh, CONCURRENCY, ROUND_MS));
  }
  await statement.close();
  await service.close();
  const measured = { ours: median(ours), theirs: median(theirs), unit: 'refreshes/s', limit: '≥ 0.5' };
  const ratio = measured.ours / measured.theirs;
  yield { bench: 'refresh', figure: 'refresh grants over HTTP, 50 at once', ratio, ...measured };
}

/** Something that can refresh the session of each worker, again and again. */
interface Refreshing {
  refresh(this: void, worker: number): Promise<void>;
  close(): Promise<void>;
}

async function overHttp(address: string): Promise<Refreshing> {
  const clients = await Promise.all(Array.from({ length: CONCURRENCY }, () => client(address)));
  const sessions = await Promise.all(clients.map((by, worker) => signUp(by, `http-${worker}`)));
  const tokens = sessions.map(({ refresh_token: token }) => token);
  return {
    async refresh(worker) {
      const path = '/token?grant_type=refresh_token';
      const text = await clients[worker]?.send('POST', path, { refresh_token: tokens[worker] });
      tokens[worker] = /"refresh_token":"([^"]+)"/.exec(text ?? '')?.[1] ?? '';
    },
    async close() {
      await Promise.all(clients.map((by) => by.end()));
    },
  };
}

/** A family of tokens, as the table has it. */
interface Family {
  id: string;
  hash: Buffer;
}

async function bareStatement(databaseUrl: string, address: string): Promise<Refreshing> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
  const by = await client(address);
  for (let worker = 0; worker < CONCURRENCY; worker++) await signUp(by, `bare-${worker}`);
  await by.end();
  const families = await pool.query<Family>(`
    select t.session_id as id, t.token_hash as hash from auth.refresh_tokens t
    join auth.sessions s on s.id = t.session_id join auth.users u on u.id = s.user_id where u.email like 'bare-%'`);
  const model = await statementOf(databaseUrl, (one, session) =>
    one.send('POST', '/token?grant_type=refresh_token', { refresh_token: session.refresh_token }),
  );
  const statement = statementFor(model);
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
function statementFor(model: Given): (family: Family, child: Buffer) => pg.QueryConfig {
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
