import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { expect, it } from 'vitest';
import { type CleanUp, startCleanUp } from '../src/cleanup/start-clean-up.ts';
import { authSettings } from '../src/settings.ts';
import { confirmedUser, PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';

const HOUR_MS = 3_600_000;

function cleanUpOf(subject: Subject, environment: Record<string, string> = {}) {
  const affected: [string, number][] = [];
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
    AUTHSVC_DB_CLEANUP_ENABLED: 'false',
    ...environment,
  });
  const cleanUp = startCleanUp({
    database: subject.context.database,
    log: silentLog,
    settings,
    onAffected: (table, rows) => affected.push([table, rows]),
  });
  return { cleanUp, affected };
}

const count = async (
  subject: Subject,
  table:
    | 'one_time_tokens'
    | 'send_limits'
    | 'rate_limits'
    | 'flow_state'
    | 'sessions'
    | 'refresh_tokens'
    | 'audit_log_entries',
) => {
  const row = await subject.rows.autocommit().row<{ counts: Record<string, number> }>`
    select jsonb_build_object(
      'one_time_tokens', (select count(*) from :schema.one_time_tokens),
      'send_limits', (select count(*) from :schema.send_limits),
      'rate_limits', (select count(*) from :schema.rate_limits),
      'flow_state', (select count(*) from :schema.flow_state),
      'sessions', (select count(*) from :schema.sessions),
      'refresh_tokens', (select count(*) from :schema.refresh_tokens),
      'audit_log_entries', (select count(*) from :schema.audit_log_entries)) as counts`;
  return row?.counts[table];
};

it('deletes what is expired, to the minute, and nothing else', async () => {
  await using subject = await startSubject();
  const session = await confirmedUser(subject);
  const [ended, revoked] = [
    await signIn(subject, session.body.user?.email),
    await signIn(subject, session.body.user?.email),
  ];
  const idOf = (answer: typeof ended) =>
    String(
      JSON.parse(Buffer.from(String(answer.body.access_token).split('.')[1] ?? '', 'base64url').toString())
        .session_id,
    );
  const now = subject.clock.now();
  const rows = subject.rows.autocommit();
  await rows.run`update :schema.sessions set not_after = ${now} where id = ${idOf(ended)}`;
  await rows.run`update :schema.refresh_tokens set revoked_at = ${now} where session_id = ${idOf(revoked)}`;
  await rows.run`
    insert into :schema.flow_state (id, state_hash, provider, redirect_to, created_at)
    values (${randomUUID()}, ${randomBytes(32)}, 'github', '', ${now})`;
  await rows.run`
    insert into :schema.auth_codes (id, code_hash, user_id, authentication_method, code_challenge, code_challenge_method,
      created_at, expires_at)
    values (${randomUUID()}, ${randomBytes(32)}, ${session.body.user?.id}, 'otp', 'x', 'plain', ${now}, ${now})`;
  await rows.run`insert into :schema.rate_limits (key, tokens, refilled_at) values (${randomBytes(16)}, 1, ${now})`;
  await subject.post('/recover', { email: session.body.user?.email });
  await subject.mails();
  const { cleanUp, affected } = cleanUpOf(subject);

  const before = await subject.snapshot();
  expect(await cleanUp.runOnce()).toBe(0);
  expect(await subject.snapshot()).toBe(before);

  const step = async (ms: number) => {
    subject.clock.advance(ms);
    affected.length = 0;
    await cleanUp.runOnce();
    return Object.fromEntries(affected);
  };
  expect(await step(60_001)).toEqual({ send_limits: 2 });
  expect(await step(5 * 60_000)).toEqual({ flow_state: 1 });
  const sweptBuckets = await step(HOUR_MS);
  expect(sweptBuckets).toEqual({ rate_limits: 1, auth_codes: 1 });
  expect(await step(22 * HOUR_MS)).toEqual({});
  expect(await step(HOUR_MS)).toEqual({ one_time_tokens: 1, sessions: 1 });
  expect(await step(48 * HOUR_MS)).toEqual({ sessions: 1 });
  expect(await step(10_000 * HOUR_MS)).toEqual({});
  expect([await count(subject, 'sessions'), await count(subject, 'refresh_tokens')]).toEqual([1, 1]);
  expect(
    (await subject.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token }))
      .status,
  ).toBe(200);
  expect(await count(subject, 'audit_log_entries')).toBeGreaterThan(5);
  await cleanUp.close();
});

it('attack: no password typed before comes back when an old code is cleaned up: whose it is, nobody can tell', async () => {
  await using subject = await startSubject();
  const email = someone();
  await subject.post('/signup', { email, password: 'of a stranger' });
  subject.clock.advance(61_000);
  await subject.post('/signup', { email, password: PASSWORD });
  await subject.mails();
  subject.clock.advance(30 * 24 * HOUR_MS);
  const { cleanUp } = cleanUpOf(subject);
  await cleanUp.runOnce();
  await subject.post('/resend', { type: 'signup', email });
  const { token } = readMail((await subject.mails()).at(-1));
  expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
  expect((await signIn(subject, email, 'of a stranger')).status).toBe(400);
  expect((await signIn(subject, email)).status).toBe(400);
});

it('keeps the audit log for as long as the settings say', async () => {
  await using subject = await startSubject();
  await confirmedUser(subject);
  subject.clock.advance(25 * HOUR_MS);
  await confirmedUser(subject);
  const { cleanUp } = cleanUpOf(subject, { AUTHSVC_AUDIT_LOG_RETENTION: '24h' });
  const all = (await subject.audit()).length;
  await cleanUp.runOnce();
  expect((await subject.audit()).length).toBe(all / 2);
});

it('works in batches of 500, leaves rows somebody holds, and gives way to another process', async () => {
  await using subject = await startSubject();
  const old = new Date(subject.clock.now().getTime() - 24 * HOUR_MS);
  await subject.rows.autocommit().run`
    insert into :schema.send_limits (key, sent_at) select decode(md5(n::text), 'hex'), ${old} from generate_series(1, 1200) n`;
  const { cleanUp, affected } = cleanUpOf(subject);
  const held = subject.rows.transaction(async (tx) => {
    await tx.run`select from :schema.send_limits where key = decode(md5('7'), 'hex') for update`;
    await tx.run`select pg_sleep(0.8)`;
  });
  await sleep(100);
  expect(await cleanUp.runOnce()).toBe(1199);
  expect(affected).toEqual([
    ['send_limits', 500],
    ['send_limits', 500],
    ['send_limits', 199],
  ]);
  await held;
  expect(await cleanUp.runOnce()).toBe(1);

  const locked = subject.rows.transaction(async (tx) => {
    await tx.run`select pg_advisory_xact_lock(hashtext('croft clean-up of ' || 'auth'))`;
    await tx.run`select pg_sleep(0.8)`;
  });
  await sleep(100);
  await subject.rows.autocommit()
    .run`insert into :schema.send_limits (key, sent_at) values (${randomBytes(16)}, ${old})`;
  expect(await cleanUp.runOnce()).toBe(0);
  await locked;
  expect(await cleanUp.runOnce()).toBe(1);
});

it('runs by itself, of two processes each row goes once, and stops when it is closed', async () => {
  await using subject = await startSubject();
  const old = new Date(subject.clock.now().getTime() - 24 * HOUR_MS);
  const fill = () => subject.rows.autocommit().run`
    insert into :schema.send_limits (key, sent_at) select uuid_send(gen_random_uuid()), ${old} from generate_series(1, 700)`;
  await fill();
  const environment = { AUTHSVC_DB_CLEANUP_ENABLED: 'true', AUTHSVC_DB_CLEANUP_INTERVAL: '50ms' };
  const processes = [cleanUpOf(subject, environment), cleanUpOf(subject, environment)];
  for (let waited = 0; waited < 200 && (await count(subject, 'send_limits')) !== 0; waited++) await sleep(25);
  expect(
    processes.flatMap(({ affected }) => affected.map(([, rows]) => rows)).reduce((a, b) => a + b, 0),
  ).toBe(700);
  await Promise.all(
    processes.flatMap(({ cleanUp }: { cleanUp: CleanUp }) => [cleanUp.close(), cleanUp.close()]),
  );
  await fill();
  await sleep(200);
  expect(await count(subject, 'send_limits')).toBe(700);
});
