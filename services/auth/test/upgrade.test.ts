import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { silentLog } from '@croft/runtime';
import { type Database, migrate, openDatabase } from '@croft/sql';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { expect, it } from 'vitest';
import { migrateTables } from '../src/migrate-tables.ts';
import { migrations } from '../src/open-context.ts';
import { codeHashOf } from '../src/rules/codes/one-time-code.ts';
import { hashOf, writeRefreshToken } from '../src/rules/tokens/refresh-token.ts';
import { EMAIL_APP_METADATA, emailIdentityData } from '../src/rules/users/disguised-user.ts';
import { bearer, PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';

const HOUR_MS = 3_600_000;

/** A service of today on a database as the version with the migrations up to 0002 left it; not migrated yet. */
async function startOnEarlierTables(environment: Record<string, string> = {}) {
  const stack = new AsyncDisposableStack();
  const home = stack.use(await testDatabase());
  const folder = stack.use(await temporaryFolder());
  for (const name of ['0001_users-and-sessions.sql', '0002_signup-frequency.sql']) {
    await cp(fileURLToPath(new URL(name, migrations)), join(folder.path, name));
  }
  const subject = stack.use(await startSubject(environment, silentLog, home.url));
  const earlier = openDatabase({ url: home.url, schema: 'auth', log: silentLog, clock: subject.clock });
  await migrate(earlier, pathToFileURL(`${folder.path}/`));
  stack.adopt(earlier, (one) => one.close());
  return {
    subject,
    earlier,
    upgrade: () => migrateTables(subject.context.database, subject.context.settings),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A user as that version wrote one. */
async function user(subject: Subject, earlier: Database, confirmed: boolean) {
  const [id, email, now] = [randomUUID(), someone(), subject.clock.now()];
  const hash = await subject.context.outside.passwords.hash(PASSWORD);
  const data = JSON.stringify(emailIdentityData(id, { email, data: {} }, confirmed));
  const rows = earlier.autocommit();
  await rows.run`
    insert into :schema.users (id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data,
      raw_user_meta_data, created_at, updated_at, signup_answered_at)
    values (${id}, 'authenticated', 'authenticated', ${email}, ${hash}, ${confirmed ? now : null},
      ${JSON.stringify(EMAIL_APP_METADATA)}, ${data}, ${now}, ${now}, ${now})`;
  await rows.run`
    insert into :schema.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
    values (${id}, ${id}, ${data}, 'email', ${now}, ${now})`;
  return { id, email };
}

/** A code on its way, and the mail that brings it, as that version wrote them. */
async function codeFor(subject: Subject, earlier: Database, { id, email }: { id: string; email: string }) {
  const { atRest } = subject.context;
  const now = subject.clock.now();
  const code = String(randomInt(100_000, 1_000_000));
  const token = codeHashOf(email, code);
  const rows = earlier.autocommit();
  await rows.run`
    insert into :schema.one_time_tokens (user_id, token_type, token_hash, relates_to, created_at, updated_at)
    values (${id}, 'confirmation_token', ${atRest.hashCode(token)}, ${email}, ${now}, ${now})`;
  const url = `https://auth.example/verify?token=${token}&type=signup&redirect_to=https://site.example`;
  const sealed = atRest.seal(JSON.stringify({ subject: 'Confirm Your Signup', url, code }));
  const payload = JSON.stringify({ kind: 'confirmation', to: email, sealed });
  await rows.run`
    insert into :schema.outbox (topic, payload, created_at, run_at) values ('mail', ${payload}, ${now}, ${now})`;
  return { email, code, token, url };
}

/** The refresh token of a session, as that version wrote it; the rows are the same today. */
async function sessionOf(subject: Subject, earlier: Database, userId: string): Promise<string> {
  const [sessionId, now] = [randomUUID(), subject.clock.now()];
  const token = { sessionId, counter: 3, secret: randomBytes(16) };
  const rows = earlier.autocommit();
  await rows.run`
    insert into :schema.sessions (id, user_id, created_at, updated_at) values (${sessionId}, ${userId}, ${now}, ${now})`;
  await rows.run`
    insert into :schema.refresh_tokens (session_id, token_hash, counter, rotated_at)
    values (${sessionId}, ${hashOf(token)}, 3, ${now})`;
  await rows.run`
    insert into :schema.mfa_amr_claims (session_id, authentication_method, created_at, updated_at)
    values (${sessionId}, 'password', ${now}, ${now})`;
  return writeRefreshToken(token, subject.context.atRest.refreshTokens);
}

it('people sign in, sessions go on, and what was under way still arrives and counts', async () => {
  await using begun = await startOnEarlierTables();
  const { subject, earlier } = begun;
  const ada = await user(subject, earlier, true);
  const refresh_token = await sessionOf(subject, earlier, ada.id);
  const [opener, typist, waiting] = [
    await codeFor(subject, earlier, await user(subject, earlier, false)),
    await codeFor(subject, earlier, await user(subject, earlier, false)),
    await codeFor(subject, earlier, await user(subject, earlier, false)),
  ];

  expect((await begun.upgrade()).at(-1)).not.toBe('0003_flows');
  expect(await begun.upgrade()).toEqual([]);

  expect((await signIn(subject, ada.email)).status).toBe(200);
  const refreshed = await subject.post('/token?grant_type=refresh_token', { refresh_token });
  expect(refreshed.status).toBe(200);
  expect(await subject.get('/user', bearer(refreshed))).toMatchObject({
    status: 200,
    body: { id: ada.id, email: ada.email },
  });

  const typed = { type: 'signup', email: typist.email, token: typist.code };
  expect((await subject.post('/verify', typed)).status).toBe(200);
  expect((await subject.post('/verify', typed)).status).toBe(403);

  const opened = await subject.get(`/verify?token=${opener.token}&type=signup`);
  expect([opened.status, opened.headers['location']]).toMatchObject([
    303,
    expect.stringContaining('#access_token='),
  ]);
  expect((await signIn(subject, opener.email)).status).toBe(200);

  const mail = (await subject.mails()).find(({ headers }) => headers.get('to')?.includes(waiting.email));
  const read = readMail(mail);
  expect(read).toMatchObject({ token: waiting.token, code: waiting.code });
  expect(read.url.href).toBe(waiting.url);
  expect(mail?.html).toContain('>Confirm your mail</a>');
  expect((await subject.post('/verify', { type: 'signup', token_hash: read.token })).status).toBe(200);
});

it('ten wrong guesses at a code of before have spent its link as well', async () => {
  await using begun = await startOnEarlierTables();
  const { subject, earlier } = begun;
  const spent = await codeFor(subject, earlier, await user(subject, earlier, false));
  await earlier.autocommit().run`update :schema.one_time_tokens set wrong_guesses = 10`;
  await begun.upgrade();
  const before = await state(earlier);
  const answer = await subject.post('/verify', { type: 'signup', token_hash: spent.token });
  expect([answer.status, answer.body]).toMatchObject([403, { error_code: 'otp_expired' }]);
  expect(await state(earlier)).toEqual(before);
});

it.each([
  ['1h', 2 * HOUR_MS, 403],
  ['1h', HOUR_MS / 2, 200],
  ['72h', 48 * HOUR_MS, 200],
  ['72h', 73 * HOUR_MS, 403],
])(
  'with MAILER_OTP_EXP=%s a code of before lives as long: after %i ms it is answered %i',
  async (lifetime, ageMs, status) => {
    await using begun = await startOnEarlierTables({ AUTHSVC_MAILER_OTP_EXP: lifetime });
    const { subject, earlier } = begun;
    const sent = await codeFor(subject, earlier, await user(subject, earlier, false));
    subject.clock.advance(ageMs);
    await begun.upgrade();
    const before = await state(earlier);
    const answer = await subject.post('/verify', { type: 'signup', email: sent.email, token: sent.code });
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(answer.body).toMatchObject({ error_code: 'otp_expired' });
      expect(await state(earlier)).toEqual(before);
      const opened = await subject.get(`/verify?token=${sent.token}&type=signup`);
      expect(opened.headers['location']).toContain('error_code=otp_expired');
    }
  },
);

/** Whoever was refused is still unconfirmed and signed in nowhere. */
function state(database: Database): Promise<object[]> {
  return database.autocommit().rows`
    select u.id, u.email_confirmed_at, (select count(*) from :schema.sessions s where s.user_id = u.id) as sessions
    from :schema.users u order by u.id`;
}
