import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../src/context.ts';
import { removeOldDeliveries } from '../src/events/start-events.ts';
import { type Person, pushedRepository } from './forge.ts';
import { SECRET, useHookedForge } from './hooked-forge.ts';
import { signature, startReceiver } from './receiver.ts';

const { scene, receiver, hookUp, person } = await useHookedForge();
const slow = await startReceiver();
let ada: Person;

beforeAll(() => {
  ada = person();
});

const make = (name: string) => ada.call('POST', '/user/repos', { name });
/** The newest: as many as a page has, which is more than any test here sends. */
const deliveries = async (hook: string) => (await ada.call('GET', `${hook}/deliveries?limit=50`)).items;

/** Lets what waits for its next attempt have it now, once it does. */
async function hurry(): Promise<void> {
  await expect.poll(() => scene.sql.rows`select id from :schema.outbox where last_error is null`).toEqual([]);
  await scene.sql.run`update :schema.outbox set last_error = null`;
  await scene.sql.run`update :schema.outbox set run_at = now() where parked_at is null`;
  await scene.sql.run`select pg_notify('croft_outbox', '')`;
}

/** What the forge does every ten minutes. */
async function cleanUp(settings: { WEBHOOK_KEPT_DELIVERIES: number }): Promise<void> {
  const database = { autocommit: () => scene.sql };
  await removeOldDeliveries({ database, settings } as unknown as Context);
}

describe('a delivery', () => {
  it('is signed over its payload, names its event, and is in the log with what came back', async () => {
    await make('signed');
    const json = await hookUp('signed', ['issues']);
    const form = await hookUp(
      'signed',
      ['issues'],
      { authorization_header: 'Basic YTpi' },
      { content_type: 'form' },
    );
    receiver.answer = (_delivery, response) =>
      response.writeHead(201, { 'x-mine': 'yes' }).end('zero \0 and more');
    await ada.call('POST', '/repos/ada/signed/issues', { title: 'Grüße & more', body: 'text' });
    await receiver.take('issues', 2);
    expect(receiver.deliveries.map(({ headers }) => headers['content-type']).sort()).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
    ]);
    for (const { headers, text, payload } of receiver.deliveries) {
      // A receiver takes the payload out of the form before it checks it.
      const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
      const signed = isForm ? (new URLSearchParams(text).get('payload') ?? '') : text;
      const mac = signature('sha256', SECRET, signed);
      expect(headers).toMatchObject({
        'x-gitea-event': 'issues',
        'x-gitea-event-type': 'issues',
        'x-gogs-event': 'issues',
        'x-github-event': 'issues',
        'x-gitea-signature': mac,
        'x-gogs-signature': mac,
        'x-hub-signature-256': `sha256=${mac}`,
        'x-hub-signature': `sha1=${signature('sha1', SECRET, signed)}`,
        'x-gitea-hook-installation-target-type': 'repository',
      });
      expect(headers['x-gitea-delivery']).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers['x-github-delivery']).toBe(headers['x-gitea-delivery']);
      expect(payload).toMatchObject({
        action: 'opened',
        number: 1,
        issue: { title: 'Grüße & more', user: { login: 'ada' } },
        repository: { full_name: 'ada/signed', permissions: { admin: true } },
        sender: { login: 'ada', email: 'ada@noreply.127.0.0.1' },
      });
    }
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(2);
    for (const hook of [json, form]) {
      await expect
        .poll(() => deliveries(hook))
        .toMatchObject([
          {
            event: 'issues',
            attempts: 1,
            succeeded: true,
            error: '',
            response: { status: 201, headers: { 'x-mine': 'yes' }, body: 'zero  and more' },
          },
        ]);
    }
  });

  it('has a text of any length, also where many have it at once', async () => {
    await make('long');
    const types = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? 'json' : 'form'));
    for (const content_type of types) await hookUp('long', ['issues'], {}, { content_type });
    const body = '% "'.repeat(100_000);
    await ada.call('POST', '/repos/ada/long/issues', { title: 'long', body });
    const payloads = await receiver.take('issues', types.length);
    for (const payload of payloads) expect(payload).toMatchObject({ issue: { body } });
  });

  it('has empty signatures without a secret', async () => {
    await make('unsigned');
    await hookUp('unsigned', ['issues'], {}, { secret: '' });
    await ada.call('POST', '/repos/ada/unsigned/issues', { title: 'x' });
    await receiver.take('issues');
    expect(receiver.deliveries[0]?.headers).toMatchObject({
      'x-gitea-signature': '',
      'x-hub-signature': 'sha1=',
      'x-hub-signature-256': 'sha256=',
    });
  });

  it('is tried again with the same id when the receiver is broken, and is one row of the log', async () => {
    await make('retried');
    const hook = await hookUp('retried', ['issues']);
    let broken = 2;
    receiver.answer = (_delivery, response) => {
      response.statusCode = broken-- > 0 ? 503 : 200;
      response.end();
    };
    await ada.call('POST', '/repos/ada/retried/issues', { title: 'x' });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await receiver.take('issues', attempt);
      await expect.poll(async () => (await deliveries(hook))[0]).toMatchObject({ attempts: attempt });
      if (attempt < 3)
        expect((await deliveries(hook))[0]).toMatchObject({
          succeeded: null,
          delivered_at: null,
          error: 'the receiver answered 503',
        });
      if (attempt < 3) await hurry();
    }
    expect(await deliveries(hook)).toMatchObject([
      { attempts: 3, succeeded: true, response: { status: 200 } },
    ]);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['x-gitea-delivery'])).size).toBe(1);
    expect(await scene.sql.rows`select * from :schema.outbox`).toEqual([]);
  });

  it('that fails for a mistake of ours is tried again, and no key is blamed', async () => {
    await make('mistaken');
    const hook = await hookUp('mistaken', ['issues']);
    // Nothing to sign.
    await scene.sql.script(`
      alter table forge.hook_deliveries alter payload drop not null;
      create function forge.lose_payload() returns trigger language plpgsql as
        $$ begin new.payload = null; return new; end $$;
      create trigger lose before insert on forge.hook_deliveries for each row execute function forge.lose_payload()`);
    await ada.call('POST', '/repos/ada/mistaken/issues', { title: 'x' });
    const failures = async () =>
      (await scene.sql.rows<{ last_error: string }>`select last_error from :schema.outbox`).map(
        ({ last_error: error }) => error,
      );
    await expect.poll(failures).toEqual([expect.stringContaining('must be of type string')]);
    expect(
      await scene.sql.rows`select error, delivered_at from :schema.hook_deliveries where payload is null`,
    ).toEqual([{ error: null, delivered_at: null }]);
    await scene.sql.script(`
      drop trigger lose on forge.hook_deliveries;
      update forge.hook_deliveries set payload = '{}' where payload is null`);
    await hurry();
    await receiver.take('issues');
    await expect.poll(() => deliveries(hook)).toMatchObject([{ succeeded: true, error: '' }]);
  });

  it('is given up after eight attempts, at once when the receiver says no', async () => {
    await make('given-up');
    const hook = await hookUp('given-up', ['issues']);
    receiver.answer = (_delivery, response) => response.writeHead(410).end();
    await ada.call('POST', '/repos/ada/given-up/issues', { title: 'x' });
    await expect
      .poll(() => deliveries(hook))
      .toMatchObject([{ attempts: 1, succeeded: false, response: { status: 410 } }]);
    receiver.answer = (_delivery, response) => response.writeHead(500).end();
    await ada.call('POST', '/repos/ada/given-up/issues', { title: 'y' });
    await expect
      .poll(async () => (await deliveries(hook))[0])
      .toMatchObject({ attempts: 1, response: { status: 500 } });
    await scene.sql.run`update :schema.outbox set attempts = 7`;
    await hurry();
    await expect
      .poll(async () => (await deliveries(hook))[0])
      .toMatchObject({ attempts: 8, succeeded: false });
    expect(await scene.sql.rows`select * from :schema.outbox`).toEqual([]);
  });

  it('does not follow redirects', async () => {
    await make('redirected');
    const hook = await hookUp('redirected', ['issues']);
    receiver.answer = (_delivery, response) => response.writeHead(307, { location: slow.url }).end();
    await ada.call('POST', '/repos/ada/redirected/issues', { title: 'x' });
    await expect
      .poll(() => deliveries(hook))
      .toMatchObject([{ succeeded: false, response: { status: 307 } }]);
    expect(slow.deliveries).toEqual([]);
  });

  it('goes where its hook leads by then, and takes its turn there', async () => {
    await make('led-on');
    slow.answer = (_delivery, response) => response.writeHead(500).end();
    const hook = await hookUp('led-on', ['issues'], {}, { url: slow.url });
    await ada.call('POST', '/repos/ada/led-on/issues', { title: 'x' });
    const lanes = () => scene.sql.rows`select lane from :schema.outbox where last_error is not null`;
    await expect.poll(lanes).toEqual([{ lane: new URL(slow.url).host }]);
    expect((await ada.call('PATCH', hook, { config: { url: receiver.url } })).status).toBe(200);
    expect(await lanes()).toEqual([{ lane: new URL(receiver.url).host }]);
    await hurry();
    await receiver.take('issues');
  });

  it('waits for nobody: a receiver that hangs does not hold up the others', async () => {
    await make('hanging');
    slow.answer = () => {};
    const stuck = await hookUp(
      'hanging',
      ['issues'],
      {},
      { url: slow.url.replace('127.0.0.1', 'localhost') },
    );
    await hookUp('hanging', ['issues']);
    const startedAt = performance.now();
    const count = 40;
    for (let n = 0; n < count; n++) await ada.call('POST', '/repos/ada/hanging/issues', { title: `${n}` });
    await receiver.take('issues', count);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    // One lane, and a bad one: a few of them were tried, one at a time after the first.
    expect(slow.deliveries.length).toBeLessThan(count);
    await expect
      .poll(async () => (await deliveries(stuck)).find(({ attempts }) => attempts === 1))
      .toMatchObject({ succeeded: null, error: expect.stringContaining('did not answer in time') });
    expect((await ada.call('DELETE', stuck)).status).toBe(204);
    await scene.sql.run`update :schema.outbox set run_at = now()`;
    await expect.poll(() => scene.sql.rows`select id from :schema.outbox`).toEqual([]);
  });

  it('can be tried out and sent once more', async () => {
    const tree = await pushedRepository(ada, 'tried', scene.folder);
    const head = await git(tree, 'rev-parse', 'HEAD');
    const hook = await hookUp('tried', ['issues']);
    expect((await ada.call('POST', `${hook}/tests`)).status).toBe(204);
    const [push] = await receiver.take('push');
    expect(push).toMatchObject({
      ref: 'refs/heads/main',
      before: head,
      after: head,
      // A receiver that works on commits has one.
      commits: [{ id: head }],
      total_commits: 1,
      head_commit: { id: head },
    });
    expect((await ada.call('POST', `${hook}/tests?ref=nowhere`)).status).toBe(404);
    await expect.poll(() => deliveries(hook)).toMatchObject([{ succeeded: true }]);
    const [first] = await deliveries(hook);
    const again = await ada.call('POST', `${hook}/deliveries/${first?.id}/redeliver`);
    expect(again).toMatchObject({
      status: 202,
      body: {
        event: 'push',
        request: first?.['request'] && { payload: (first['request'] as { payload: string }).payload },
      },
    });
    const [, second] = await receiver.take('push', 2);
    expect(second).toEqual(push);
    await expect
      .poll(() => deliveries(hook))
      .toMatchObject([{ succeeded: true }, { succeeded: true, id: first?.id }]);
    expect((await ada.call('POST', `${hook}/deliveries/999999/redeliver`)).status).toBe(404);
    expect((await ada.call('POST', `${hook}/deliveries/x/redeliver`)).status).toBe(404);
  });
});

it('the log keeps the newest deliveries of each hook', async () => {
  await make('kept');
  const hook = await hookUp('kept', ['push']);
  const id = Number(hook.split('/').at(-1));
  await scene.sql.run`
    insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, delivered_at, succeeded, created_at)
    select ${id}, gen_random_uuid(), 'push', 'push', '{}', case when n = 1 then null else now() end, n <> 1, now()
    from generate_series(1, 1200) n`;
  await cleanUp({ WEBHOOK_KEPT_DELIVERIES: 100 });
  const left = await scene.sql.rows<{ open: boolean }>`
    select delivered_at is null as open from :schema.hook_deliveries where hook_id = ${id} order by id`;
  // What waits for an attempt is never removed.
  expect(left).toHaveLength(101);
  expect(left[0]?.open).toBe(true);
  expect((await ada.call('GET', `${hook}/deliveries?limit=10`)).headers.get('x-total-count')).toBe('101');
});

describe('deliveries of which no attempt comes', () => {
  /** Puts deliveries into the log that wait, with their rows of the outbox, which are not due. */
  async function waiting(repository: string, many: number, age: string, parked: boolean): Promise<string> {
    await make(repository);
    const hook = await hookUp(repository, ['push']);
    const id = Number(hook.split('/').at(-1));
    await scene.sql.run`
      with made as (
        insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, created_at)
        select ${id}, gen_random_uuid(), 'push', 'push', '{}', now() - ${age}::interval
        from generate_series(1, ${many}::int) n returning id
      )
      insert into :schema.outbox (topic, payload, lane, created_at, run_at, parked_at, last_error)
      select 'hook', jsonb_build_object('delivery', id), 'nobody.example', now(), now() + interval '1 day',
        case when ${parked}::boolean then now() end, 'relation "secrets" does not exist'
      from made`;
    return hook;
  }
  const left = async (hook: string) => {
    const rows = await scene.sql.rows<{ error: string | null; succeeded: boolean | null; queued: boolean }>`
      select d.error, d.succeeded, exists (select from :schema.outbox o
        where o.topic = 'hook' and (o.payload->>'delivery')::bigint = d.id) as queued
      from :schema.hook_deliveries d where d.hook_id = ${Number(hook.split('/').at(-1))} order by d.id`;
    return rows.map(({ error, succeeded, queued }) => [error, succeeded, queued]);
  };
  const WAITS = [null, null, true];

  it('attack: are no more than are kept, once they have waited for an hour', async () => {
    const old = await waiting('silent', 8, '2 hours', false);
    const young = await waiting('busy', 8, '50 minutes', false);
    await cleanUp({ WEBHOOK_KEPT_DELIVERIES: 5 });
    const givenUp = ['given up: newer ones wait', false, false];
    expect(await left(old)).toEqual([...Array(3).fill(givenUp), ...Array(5).fill(WAITS)]);
    expect(await left(young)).toEqual(Array(8).fill(WAITS));
    const log = (await ada.call('GET', `${old}/deliveries?limit=10`)).items;
    expect(log.map((one) => one['delivered_at'] === null)).toEqual([
      ...Array(5).fill(true),
      ...Array(3).fill(false),
    ]);
  });

  it('are over when they were parked, and stay parked', async () => {
    const parked = await waiting('parked', 2, '1 minute', true);
    await cleanUp({ WEBHOOK_KEPT_DELIVERIES: 5 });
    expect(await left(parked)).toEqual(Array(2).fill(['given up: it could not be sent', false, true]));
  });
});

it('a page of the log has sixteen megabytes of payloads at most, and whatever its first one has', async () => {
  await make('large');
  const hook = await hookUp('large', ['push']);
  const id = Number(hook.split('/').at(-1));
  const payloads = async (query: string) => {
    const page = await ada.call('GET', `${hook}/deliveries?${query}`);
    return page.items.map(({ request }) => (request as { payload: string }).payload.length);
  };
  const MIB = 1024 * 1024;
  await scene.sql.run`
    insert into :schema.hook_deliveries (hook_id, uuid, event, event_type, payload, delivered_at, succeeded, created_at)
    select ${id}, gen_random_uuid(), 'push', 'push', repeat('x', ${6 * MIB}), now(), true, now() from generate_series(1, 5)`;
  expect(await payloads('limit=50')).toEqual([6 * MIB, 6 * MIB, 0, 0, 0]);
  expect(await payloads('limit=1&page=3')).toEqual([6 * MIB]);
  await scene.sql
    .run`update :schema.hook_deliveries set payload = repeat('x', ${20 * MIB}) where hook_id = ${id}`;
  expect(await payloads('limit=2')).toEqual([20 * MIB, 0]);
});
