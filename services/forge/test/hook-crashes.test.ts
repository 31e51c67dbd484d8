import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@croft/runtime';
import { openDatabase, type Tx } from '@croft/sql';
import { git, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { commit, type Person, personWith, pushedRepository, SECRET, tokenFor } from './forge.ts';
import { startReceiver } from './receiver.ts';

const PROGRAM = fileURLToPath(new URL('./forge-process.ts', import.meta.url));
const stack = new AsyncDisposableStack();
const receiver = await startReceiver();
const ada: Person = personWith('ada', tokenFor('ada'), () => address);
const bob: Person = personWith('bob', tokenFor('bob'), () => address);
let sql: Tx;
let databaseUrl: string;
let dataFolder: string;
let service: ChildProcess;
let address: string;
let tree: string;

async function start(): Promise<void> {
  service = spawn(process.execPath, [PROGRAM, databaseUrl, dataFolder, SECRET], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(service.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  address = line.toString().trim();
}

async function kill(): Promise<void> {
  if (service.signalCode !== null || service.exitCode !== null) return;
  service.kill('SIGKILL');
  await once(service, 'exit');
}

/** Starts again; what the dead process had taken is free at once instead of after its lease. */
async function restart(): Promise<void> {
  await sql.run`update :schema.outbox set run_at = now()`;
  await start();
}

beforeAll(async () => {
  ({ url: databaseUrl } = stack.use(
    await testDatabase({ schema: 'forge', migrations: new URL('../migrations/', import.meta.url) }),
  ));
  ({ path: dataFolder } = stack.use(await temporaryFolder()));
  const { path: folder } = stack.use(await temporaryFolder());
  sql = stack
    .adopt(openDatabase({ url: databaseUrl, schema: 'forge', log: silentLog }), (one) => one.close())
    .autocommit();
  await start();
  stack.defer(kill);
  tree = await pushedRepository(ada, 'work', folder);
  await bob.call('GET', '/user');
  await sql.run`
    insert into :schema.watches select r.id, u.id, false, now() from :schema.repositories r, :schema.users u
    where u.login = 'bob' on conflict do nothing`;
  await ada.call('POST', '/repos/ada/work/hooks', {
    type: 'gitea',
    config: { url: receiver.url, content_type: 'json' },
    events: ['issues', 'push'],
    active: true,
  });
}, 120_000);
beforeEach(() => {
  receiver.clear();
  receiver.answer = (_delivery, response) => response.end();
});
afterAll(() => stack.disposeAsync());

const log = () => sql.rows`select event_type, succeeded from :schema.hook_deliveries order by id`;
async function settled(): Promise<void> {
  await expect.poll(() => sql.rows`select * from :schema.outbox`, { timeout: 30_000 }).toEqual([]);
}

it('killed between the commit and its expansion, everybody is told once', { timeout: 90_000 }, async () => {
  await sql.script(`
    create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(30); return new; end';
    create trigger slow before insert on forge.hook_deliveries for each row execute function forge.slow()`);
  expect((await ada.call('POST', '/repos/ada/work/issues', { title: 'told' })).status).toBe(201);
  await expect
    .poll(() => sql.rows`select 1 from pg_stat_activity where wait_event = 'PgSleep'`, { timeout: 30_000 })
    .toHaveLength(1);
  await kill();
  await sql.script(`
    select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep';
    drop trigger slow on forge.hook_deliveries; drop function forge.slow()`);
  expect(await log()).toEqual([]);
  await restart();
  await receiver.take('issues');
  await settled();
  expect(await log()).toEqual([{ event_type: 'issues', succeeded: true }]);
  expect(receiver.deliveries).toHaveLength(1);
  expect((await bob.call('GET', '/notifications')).items).toMatchObject([
    { subject: { title: 'told' }, unread: true },
  ]);
});

it('killed while the receiver takes its time, it is delivered again with the same id', {
  timeout: 90_000,
}, async () => {
  await sql.run`delete from :schema.hook_deliveries`;
  receiver.answer = () => {};
  await ada.call('POST', '/repos/ada/work/issues', { title: 'slow' });
  await receiver.take('issues');
  await kill();
  receiver.answer = (_delivery, response) => response.end();
  await restart();
  await receiver.take('issues', 2);
  await settled();
  const [first, second] = receiver.deliveries;
  expect(second?.headers['x-gitea-delivery']).toBe(first?.headers['x-gitea-delivery']);
  expect(second?.text).toBe(first?.text);
  expect(await log()).toEqual([{ event_type: 'issues', succeeded: true }]);
});

it('killed right after the answer, a push is told of once', async () => {
  await sql.run`delete from :schema.hook_deliveries`;
  await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
  for (let round = 0; round < 3; round++) {
    receiver.clear();
    const head = await commit(tree, { [`round-${round}`]: '1' }, `round ${round}`);
    await git(tree, 'push', '-q', 'origin', 'main');
    await kill();
    await restart();
    await git(tree, 'remote', 'set-url', 'origin', ada.remote('ada/work'));
    await expect.poll(() => receiver.deliveries.length, { timeout: 30_000 }).toBeGreaterThan(0);
    await settled();
    // A receiver may hear twice of what was not yet written down, under one id.
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(1);
    expect(receiver.deliveries[0]?.payload).toMatchObject({
      ref: 'refs/heads/main',
      after: head,
      total_commits: 1,
    });
    expect(await log()).toHaveLength(round + 1);
  }
}, 180_000);
