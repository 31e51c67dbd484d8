import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Person, useForge } from './forge.ts';
import { startReceiver } from './receiver.ts';

const scene = useForge({ environment: { FORGE_WEBHOOK_ALLOWED_HOSTS: 'loopback' } });
const receiver = await startReceiver();
const other = await startReceiver();
let ada: Person;

beforeAll(async () => {
  ada = scene.person('ada');
  await ada.call('POST', '/user/repos', { name: 'work' });
  await ada.call('POST', '/repos/ada/work/issues', { title: 'an issue' });
  await hookUp(receiver.url);
});
beforeEach(() => {
  receiver.clear();
  other.clear();
  receiver.answer = (_delivery, response) => response.end('thanks');
});

async function hookUp(url: string): Promise<string> {
  const { status, body } = await ada.call('POST', '/repos/ada/work/hooks', {
    type: 'gitea',
    config: { url, content_type: 'json' },
    events: ['issues'],
    active: true,
  });
  expect(status).toBe(201);
  return `/repos/ada/work/hooks/${body.id}`;
}

/** Announces so many edits of the issue at once; the former titles tell them apart. */
async function announce(count: number): Promise<void> {
  await scene.sql.run`
    insert into :schema.outbox (topic, payload, created_at, run_at)
    select 'happening', jsonb_build_object('kind', 'issue', 'action', 'edited', 'issueId', i.id, 'repositoryId',
      i.repository_id, 'actorId', i.poster_id, 'changes', jsonb_build_object('ref', jsonb_build_object('from', n::text))),
      now(), now()
    from :schema.issues i, generate_series(1, ${count}::integer) n order by n`;
  await scene.sql.run`select pg_notify('croft_outbox', '')`;
}
const log = () =>
  scene.sql.rows<{ change: string; succeeded: boolean | null; attempts: number }>`
    select payload::jsonb #>> '{changes,ref,from}' as change, succeeded, attempts from :schema.hook_deliveries
    where payload::jsonb ->> 'action' = 'edited' order by id`;
const outbox = () => scene.sql.rows`select topic, last_error from :schema.outbox order by id`;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1}`);

it('many events at once are written down once each, in their order, and all arrive', async () => {
  await announce(150);
  await receiver.take('issues', 150);
  await expect.poll(outbox).toEqual([]);
  const written = await log();
  expect(written.map(({ change }) => change)).toEqual(numbers(150));
  expect(written.every(({ succeeded, attempts }) => succeeded === true && attempts === 1)).toBe(true);
  expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(150);
});

it('an event that cannot be written down hurts none of those written down with it', async () => {
  await scene.sql.run`delete from :schema.hook_deliveries`;
  await scene.sql.script(`
    create function forge.refuse() returns trigger language plpgsql as $$
      begin if new.payload::jsonb #>> '{changes,ref,from}' = '7' then raise 'not seven'; end if; return new; end $$;
    create trigger refuse before insert on forge.hook_deliveries for each row execute function forge.refuse()`);
  await announce(20);
  await receiver.take('issues', 19);
  await expect.poll(outbox).toEqual([{ topic: 'happening', last_error: 'not seven' }]);
  await scene.sql.script(`
    drop trigger refuse on forge.hook_deliveries; drop function forge.refuse();
    update forge.outbox set run_at = now(); select pg_notify('croft_outbox', '')`);
  await receiver.take('issues', 20);
  await expect.poll(outbox).toEqual([]);
  const written = await log();
  expect(written.map(({ change }) => Number(change)).sort((a, b) => a - b)).toEqual(numbers(20).map(Number));
});

it('an end that cannot be written down hurts none of those written down with it', async () => {
  await scene.sql.run`delete from :schema.hook_deliveries`;
  await scene.sql.script(`
    create function forge.refuse() returns trigger language plpgsql as $$
      begin if new.payload::jsonb #>> '{changes,ref,from}' = '7' then raise 'not seven'; end if; return new; end $$;
    create trigger refuse before update on forge.hook_deliveries for each row execute function forge.refuse()`);
  await announce(20);
  await receiver.take('issues', 20);
  await expect.poll(outbox).toEqual([{ topic: 'hook', last_error: 'not seven' }]);
  expect((await log()).filter(({ succeeded }) => succeeded === null)).toMatchObject([{ change: '7' }]);
  await scene.sql.script(`
    drop trigger refuse on forge.hook_deliveries; drop function forge.refuse();
    update forge.outbox set run_at = now(); select pg_notify('croft_outbox', '')`);
  // Sent again under its id, for nobody knew that it had arrived.
  await receiver.take('issues', 21);
  await expect.poll(outbox).toEqual([]);
  expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(20);
});

it('a host that takes its time holds up no other', async () => {
  const hook = await hookUp(other.url.replace('127.0.0.1', 'localhost'));
  const answers: (() => void)[] = [];
  receiver.answer = (_delivery, response) => void answers.push(() => response.end());
  await announce(100);
  await other.take('issues', 100);
  // As many as one host gets at a time, and no more.
  expect(receiver.deliveries).toHaveLength(20);
  receiver.answer = (_delivery, response) => response.end();
  for (const answer of answers) answer();
  await receiver.take('issues', 100);
  await expect.poll(outbox).toEqual([]);
  expect((await ada.call('DELETE', hook)).status).toBe(204);
});
