import { git } from '@croft/testing';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { commit } from './forge.ts';
import { killDuring, useKillableForge } from './killable-forge.ts';
import { startReceiver } from './receiver.ts';

const forge = useKillableForge();
const { ada } = forge;
const bob = forge.person('bob');
const receiver = await startReceiver();
let { tree, sql } = forge;

/** Starts again; what the dead process had taken is free at once instead of after its lease. */
async function restart(): Promise<void> {
  await sql.run`update :schema.outbox set run_at = now()`;
  await forge.start();
}

beforeAll(async () => {
  ({ tree, sql } = forge);
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
});
beforeEach(() => {
  receiver.clear();
  receiver.answer = (_delivery, response) => response.end();
});

const log = () => sql.rows`select event_type, succeeded from :schema.hook_deliveries order by id`;
async function settled(): Promise<void> {
  await expect.poll(() => sql.rows`select * from :schema.outbox`).toEqual([]);
}

it('killed between the commit and its expansion, everybody is told once', async () => {
  await killDuring(forge, 'insert on forge.hook_deliveries', async () => {
    expect((await ada.call('POST', '/repos/ada/work/issues', { title: 'told' })).status).toBe(201);
    await expect
      .poll(
        () =>
          sql.rows`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
        { timeout: 30_000 },
      )
      .toHaveLength(1);
  });
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
  timeout: 150_000,
}, async () => {
  await sql.run`delete from :schema.hook_deliveries`;
  receiver.answer = () => {};
  await ada.call('POST', '/repos/ada/work/issues', { title: 'slow' });
  await receiver.take('issues');
  await forge.kill();
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
  for (let round = 0; round < 3; round++) {
    receiver.clear();
    const head = await commit(tree, { [`round-${round}`]: '1' }, `round ${round}`);
    await git(tree, 'push', '-q', 'origin', 'main');
    await forge.kill();
    await restart();
    await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(0);
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
