import { fixedClock } from '@croft/testing';
import { afterEach, expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, PASSWORD, type Subject, someone, startSubject } from './harness.ts';

// Hooks that are functions of the service's own database.

let subject: Subject;
afterEach(async () => {
  await subject[Symbol.asyncDispose]();
});

async function start(
  hook: string,
  body: string,
  settings: Record<string, string> = {},
  signature = 'event jsonb) returns jsonb',
): Promise<void> {
  subject = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    [`AUTHSVC_HOOK_${hook}_ENABLED`]: 'true',
    [`AUTHSVC_HOOK_${hook}_URI`]: 'pg-functions://postgres/hooks/Asked',
    ...settings,
  });
  await subject.rows.autocommit().script(`
    create schema hooks;
    create table hooks.seen (event jsonb, role text);
    create function hooks."Asked"(${signature} language plpgsql as $$ begin ${body} end $$;`);
}

const seen = async () =>
  await subject.rows.autocommit().rows<{ event: Record<string, unknown>; role: string }>`
    select event, role from hooks.seen`;
const signUp = (email = someone()): Promise<Answer> => subject.post('/signup', { email, password: PASSWORD });
const NOTE = 'insert into hooks.seen values (event, current_user);';
const claims = (change: string) => `return jsonb_build_object('claims', event -> 'claims' || ${change});`;

test('a function makes claims, in the role of the service', async () => {
  await start('CUSTOM_ACCESS_TOKEN', `${NOTE} ${claims(`'{"tenant": 7}'`)}`);
  const session = await signUp();
  expect(claimsOf(subject, session)).toMatchObject({ tenant: 7, sub: session.body.user?.id });
  const [{ event, role } = { event: {}, role: '' }] = await seen();
  expect(event).toMatchObject({
    metadata: { name: 'customize-access-token', time: fixedClock().now().toISOString() },
    user_id: session.body.user?.id,
    authentication_method: 'password',
  });
  const [own] = await subject.rows.autocommit().rows<{ role: string }>`select current_user as role`;
  expect(role).toBe(own?.role);
});

test('one round trip of its own, and none of the requests’ connections', async () => {
  await start('CUSTOM_ACCESS_TOKEN', claims(`'{}'`));
  expect(await subject.countRoundTrips(() => signUp())).toBe(1);
});

test.each([
  ['json', 'event json) returns json', `return json_build_object('claims', event -> 'claims');`],
  ['a set search path', `event jsonb) returns jsonb set search_path = ''`, claims(`'{}'`)],
  ['the rights of its owner', 'event jsonb) returns jsonb security definer', claims(`'{}'`)],
  ['a promise to change nothing', 'event jsonb) returns jsonb stable', claims(`'{}'`)],
])('a function with %s', async (_name, signature, body) => {
  await start('CUSTOM_ACCESS_TOKEN', body, {}, signature);
  expect((await signUp()).status).toBe(200);
});

test('behind a pooler that forgets prepared statements', async () => {
  await start('CUSTOM_ACCESS_TOKEN', claims(`'{"tenant": 7}'`), { AUTHSVC_DB_PREPARE: 'false' });
  expect(claimsOf(subject, await signUp())).toMatchObject({ tenant: 7 });
});

test.each([
  [
    'refuses',
    `return '{"error": {"http_code": 403, "message": "no"}}';`,
    { code: 403, error_code: 'unknown', msg: 'no' },
  ],
  [
    'raises an exception',
    `raise exception 'secret %', event;`,
    { code: 500, msg: 'Error running hook before_user_created' },
  ],
  [
    'makes a mistake',
    'return (1 / 0)::text::jsonb;',
    { code: 500, msg: 'Error running hook before_user_created' },
  ],
  ['gives a list', `return '[]';`, { code: 500, msg: 'Error unmarshaling JSON output.' }],
  ['gives a text', `return '"yes"';`, { code: 500, msg: 'Error unmarshaling JSON output.' }],
])('a function that %s makes no user', async (_name, body, expected) => {
  await start('BEFORE_USER_CREATED', body);
  const before = await subject.snapshot();
  const refused = await signUp();
  expect(refused.body).toMatchObject(expected);
  expect(refused.text).not.toContain('secret');
  expect(await subject.snapshot()).toBe(before);
});

test.each([['return null;'], [`return '{}';`], [`return 'null';`]])('consent is %s', async (body) => {
  await start('BEFORE_USER_CREATED', body);
  expect((await signUp()).status).toBe(200);
});

test('a function that is not there is a failure of the hook', async () => {
  await start('BEFORE_USER_CREATED', `return '{}';`);
  await subject.rows.autocommit().script('drop function hooks."Asked"');
  expect((await signUp()).body).toMatchObject({ msg: 'Error running hook before_user_created' });
});

test.each([['true'], ['false']])(
  'functions that hang are ended after two seconds and hold up nobody: prepared %s',
  async (prepared) => {
    await start('CUSTOM_ACCESS_TOKEN', claims(`'{}'`), {
      AUTHSVC_DB_MAX_POOL_SIZE: '1',
      AUTHSVC_DB_PREPARE: prepared,
    });
    const session = await signUp();
    await subject.rows.autocommit().script(`
      create or replace function hooks."Asked"(event jsonb) returns jsonb language plpgsql as $$
        begin perform pg_sleep(60); return event; end $$`);
    const startedAt = performance.now();
    const refresh = () =>
      subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });
    const hanging = Promise.all([refresh(), refresh(), refresh()]);
    for (let n = 0; n < 10; n++) expect((await subject.get('/user', bearer(session))).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(1_900);
    for (const { body } of await hanging) {
      expect(body).toMatchObject({
        code: 503,
        error_code: 'hook_timeout',
        msg: 'Failed to reach hook within maximum time of 2 seconds',
      });
    }
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  },
);

test.each([['true'], ['false']])(
  'attack: functions of one hook that hang hold up no other hook, and nobody for longer than his own two seconds: prepared %s',
  async (prepared) => {
    await start('CUSTOM_ACCESS_TOKEN', claims(`'{"tenant": 7}'`), {
      AUTHSVC_DB_PREPARE: prepared,
      AUTHSVC_HOOK_PASSWORD_VERIFICATION_ATTEMPT_ENABLED: 'true',
      AUTHSVC_HOOK_PASSWORD_VERIFICATION_ATTEMPT_URI: 'pg-functions://postgres/hooks/hanging',
    });
    await subject.rows.autocommit().script(`
      create sequence hooks.calls;
      create function hooks.hanging(event jsonb) returns jsonb language plpgsql as $$
        begin perform nextval('hooks.calls'); perform pg_sleep(60); return event; end $$`);
    const email = someone();
    const session = await signUp(email);
    const startedAt = performance.now();
    const endings: number[] = [];
    const hanging = Array.from({ length: 6 }, async () => {
      const answer = await subject.post('/token?grant_type=password', { email, password: PASSWORD });
      endings.push(performance.now() - startedAt);
      return answer;
    });
    const calls = async () =>
      (
        await subject.rows.autocommit().row<{ calls: number }>`
        select case when is_called then last_value else 0 end as calls from hooks.calls`
      )?.calls;
    await expect.poll(calls, { timeout: 1_500, interval: 20 }).toBe(3);
    const before = performance.now();
    let token = session.body.refresh_token;
    for (let n = 0; n < 3; n++) {
      const answer = await subject.post('/token?grant_type=refresh_token', { refresh_token: token });
      expect(claimsOf(subject, answer)).toMatchObject({ tenant: 7 });
      token = answer.body.refresh_token;
    }
    expect(performance.now() - before).toBeLessThan(1_000);
    for (const { body } of await Promise.all(hanging))
      expect(body).toMatchObject({ error_code: 'hook_timeout' });
    // One after another they would take four seconds.
    expect(Math.max(...endings)).toBeLessThan(3_500);
  },
);

test('a function that notes attempts beside the users table: nobody’s are no error', async () => {
  await start(
    'PASSWORD_VERIFICATION_ATTEMPT',
    `insert into hooks.attempts values ((event ->> 'user_id')::uuid);
     return '{"decision": "continue"}';`,
  );
  await subject.rows
    .autocommit()
    .script('create table hooks.attempts (user_id uuid references auth.users (id))');
  const email = someone();
  await signUp(email);
  const signIn = (address: string, password: string) =>
    subject.post('/token?grant_type=password', { email: address, password });
  const unknown = await signIn(someone(), 'wrong');
  const known = await signIn(email, 'wrong');
  expect(unknown.body).toEqual(known.body);
  expect(unknown.body).toMatchObject({ error_code: 'invalid_credentials' });
  expect((await signIn(email, PASSWORD)).status).toBe(200);
  const noted = await subject.rows.autocommit().rows`select user_id from hooks.attempts`;
  expect(noted).toHaveLength(2);
});

test('attack: what somebody wrote into their metadata is a value, never SQL', async () => {
  await start('BEFORE_USER_CREATED', `${NOTE} return '{}';`);
  const data = { name: `'); drop table hooks.seen; --`, $1: '\u2028"\\' };
  const answer = await subject.post('/signup', { email: someone(), password: PASSWORD, data });
  expect(answer.status).toBe(200);
  const [{ event } = { event: {} }] = await seen();
  expect(event).toMatchObject({ user: { user_metadata: data } });
});
