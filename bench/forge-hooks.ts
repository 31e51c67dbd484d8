import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessTokens } from '@croft/access-token';
import { forgeSettings, startForge } from '@croft/forge';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import pg from 'pg';
import type { Figure } from './figure.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const GOAL = 500;

/**
 * Webhooks from what was announced to what a receiver on loopback has answered: each event is expanded, each delivery
 * written down, signed, sent and recorded. Once with one hook, where every delivery costs an expansion, and once with
 * twenty.
 */
export async function* figures(): AsyncGenerator<Figure> {
  yield await measure({ events: 2_000, hooks: 1 });
  yield await measure({ events: 250, hooks: 20 });
}

async function measure({ events, hooks }: { events: number; hooks: number }): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-hooks-'));
  const receiver = fork(import.meta.filename, ['receive', String(events * hooks)]);
  const postgres = await startEmbeddedPostgres({ folder, log: silentLog });
  const databaseUrl = postgres.url('croft');
  const options = {
    settings: readSettings(forgeSettings, {
      FORGE_HTTP_PORT: '0',
      FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback',
    }),
    databaseUrl,
    dataFolder: folder,
    log: silentLog,
    version: '0.0.0',
    atRestKey: new Secret(SECRET),
    tokens: { secret: new Secret(SECRET) },
    authUrl: undefined,
  };
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    const [port] = (await once(receiver, 'message')) as [number];
    const service = await startForge(options);
    await prepare(service.address, `http://127.0.0.1:${port}/`, hooks);
    await client.connect();
    const received = once(receiver, 'message');
    const start = performance.now();
    await client.query(
      `insert into forge.outbox (topic, payload, created_at, run_at)
       select 'happening', jsonb_build_object('kind', 'issue', 'action', 'edited', 'issueId', i.id, 'repositoryId',
         i.repository_id, 'actorId', i.poster_id, 'changes', '{"title":{"from":"before"}}'::jsonb), now(), now()
       from forge.issues i, generate_series(1, $1::int)`,
      [events],
    );
    await client.query(`notify croft_outbox`);
    await received;
    const seconds = (performance.now() - start) / 1000;
    await service.close(5000);
    const rate = (events * hooks) / seconds;
    return {
      bench: 'forge-hooks',
      figure: `webhooks from ${events} events to ${hooks} ${hooks === 1 ? 'hook' : 'hooks'}`,
      ratio: rate / GOAL,
      ours: rate,
      theirs: GOAL,
      unit: 'deliveries/s',
      limit: '≥ 1',
    };
  } finally {
    await client.end();
    receiver.kill();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A repository with an issue and its hooks. */
async function prepare(address: string, url: string, hooks: number): Promise<void> {
  const token = accessTokens(SECRET).sign({
    sub: randomUUID(),
    role: 'authenticated',
    exp: Math.floor(Date.now() / 1000) + 3600,
    user_metadata: { user_name: 'ada' },
  });
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${address}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new Error(`${path}: ${await answer.text()}`);
  };
  await call('/user/repos', { name: 'work' });
  await call('/repos/ada/work/issues', { title: 'an issue', body: 'a text of some length. '.repeat(20) });
  const config = { url, content_type: 'json', secret: SECRET };
  for (let n = 0; n < hooks; n++)
    await call('/repos/ada/work/hooks', { type: 'gitea', config, events: ['issues'], active: true });
}

/** The receiver, in a process of its own: tells its port, and when it has everything. */
function receive(expected: number): void {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.end();
      if (++count === expected) process.send?.('done');
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

if (process.argv[2] === 'receive') receive(Number(process.argv[3]));
