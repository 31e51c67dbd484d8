import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { silentLog } from '@croft/runtime';
import bcrypt from 'bcrypt';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { openDumpSource } from '../src/import/dump/dump-source.ts';
import { importGoTrue } from '../src/import/import-gotrue.ts';
import { openLiveSource } from '../src/import/live-source.ts';
import { bearer, claimsOf, PASSWORD, readMail, type Subject, startSubject } from './harness.ts';
import { serviceRole, signIn } from './support/administrators.ts';
import { type GoTrueDatabase, gotrueDatabase } from './support/gotrue-database.ts';

// What an import could let in: passwords nobody has proven, accounts without the factor they had, and sessions that
// count for more than was shown.

let subject: Subject;
let old: GoTrueDatabase;
beforeEach(async () => {
  subject = await startSubject({});
  old = await gotrueDatabase(subject.databaseUrl, 'head');
});
afterEach(async () => {
  await old[Symbol.asyncDispose]();
  await subject[Symbol.asyncDispose]();
});

const LONG_AGO = '2024-03-01T10:00:00.123456Z';
const hash = (password: string) => bcrypt.hash(password, 4);

async function take(more: { dryRun?: boolean } = {}) {
  const source = await openLiveSource(subject.databaseUrl, old.schema, silentLog);
  try {
    const order = { dryRun: false, auditLog: false, onProgress: () => {}, ...more };
    return await importGoTrue(subject.context, { ...order, source });
  } finally {
    await source.close();
  }
}

async function put(email: string, more: object = {}): Promise<string> {
  const id = randomUUID();
  await old.put('users', {
    id,
    email,
    aud: 'authenticated',
    role: 'authenticated',
    encrypted_password: await hash(PASSWORD),
    raw_app_meta_data: { provider: 'email', providers: ['email'] },
    raw_user_meta_data: {},
    is_sso_user: false,
    is_anonymous: false,
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    ...more,
  });
  const data = { sub: id, email };
  const identity = { id: randomUUID(), user_id: id, provider: 'email', provider_id: id, identity_data: data };
  await old.put('identities', { ...identity, created_at: LONG_AGO, updated_at: LONG_AGO });
  return id;
}
const confirmed = { email_confirmed_at: LONG_AGO };
const signInAs = (email: string, password: string) =>
  subject.post('/token?grant_type=password', { email, password });

async function putFactor(userId: string, more: object): Promise<string> {
  const id = randomUUID();
  await old.put('mfa_factors', {
    id,
    user_id: userId,
    friendly_name: `factor ${id}`,
    factor_type: 'totp',
    status: 'verified',
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    ...more,
  });
  return id;
}

let nextId = 1;
async function putSession(
  userId: string,
  methods: string[],
  more: object,
  token = `token${userId.slice(0, 7)}`,
): Promise<string> {
  const id = randomUUID();
  await old.put('sessions', { id, user_id: userId, created_at: LONG_AGO, updated_at: LONG_AGO, ...more });
  await old.put('refresh_tokens', { id: nextId++, token, user_id: userId, revoked: false, session_id: id });
  for (const method of methods) {
    const times = { created_at: LONG_AGO, updated_at: LONG_AGO };
    const claim = { id: randomUUID(), session_id: id, authentication_method: method };
    await old.put('mfa_amr_claims', { ...claim, ...times });
  }
  return token;
}

describe('attack: a password that waits for somebody else to confirm the address', () => {
  test.each([
    ['the administrator had invited them there', { invited_at: LONG_AGO }],
    ['nobody had', {}],
  ])('%s', async (_name, more) => {
    const email = 'victim@old.example';
    const id = await put(email, more);
    const report = await take();
    expect([...report.notes]).toContainEqual([
      expect.stringMatching(/^passwords of users who have not confirmed an address or number: /),
      1,
    ]);
    expect(await subject.snapshot()).not.toContain('$2b$');

    await subject.post('/invite', { email }, serviceRole(subject));
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const { token } = readMail(mail);
    const arrived = await subject.post('/verify', { type: 'invite', token_hash: token });
    expect([arrived.status, arrived.body.user?.id]).toEqual([200, id]);
    const before = await subject.snapshot();
    expect((await signInAs(email, PASSWORD)).body['error_code']).toBe('invalid_credentials');
    expect(await subject.snapshot()).toBe(before);
  });

  it('who has confirmed a number or an address has a password as before', async () => {
    await put('ada@old.example', confirmed);
    await put('bob@old.example', { phone: '14155550100', phone_confirmed_at: LONG_AGO });
    const report = await take();
    expect([...report.notes]).toEqual([]);
    expect((await signInAs('ada@old.example', PASSWORD)).status).toBe(200);
  });
});

describe('attack: the password alone, where GoTrue asked for a second factor', () => {
  const encrypted = JSON.stringify({ key_id: 'k', alg: 'aes-gcm-hkdf', data: 'AA', nonce: 'AA' });
  test.each([
    ['a security key', { factor_type: 'webauthn' }, 'webauthn', 'webauthn factors cannot be proven here'],
    ['an encrypted key', { secret: encrypted }, 'totp', 'GoTrue encrypted its key (DB_ENCRYPTION)'],
    ['no key', { secret: 'no base32!' }, 'totp', 'its key cannot be read'],
    ['no number', { factor_type: 'phone', phone: '' }, 'phone', 'it has no number'],
  ])('%s: the account still asks, and nobody can answer', async (_name, row, type, why) => {
    const email = 'ada@old.example';
    const userId = await put(email, confirmed);
    const id = await putFactor(userId, row);
    const sentence = `second factor ${id} of user ${userId}: ${why}`;
    expect((await take({ dryRun: true })).unprovable).toEqual([sentence]);
    expect((await take()).unprovable).toEqual([sentence]);

    const session = await signIn(subject, email, PASSWORD);
    expect(claimsOf(subject, session)['aal']).toBe('aal1');
    expect(session.body.user?.['factors']).toMatchObject([{ id, factor_type: type, status: 'verified' }]);
    const challenge = await subject.post(`/factors/${id}/challenge`, {}, bearer(session));
    for (const code of ['000000', '', 'null', '------']) {
      const typed = { challenge_id: challenge.body.id ?? randomUUID(), code };
      const answer = await subject.post(`/factors/${id}/verify`, typed, bearer(session));
      expect([code, answer.status >= 400, answer.body.access_token]).toEqual([code, true, undefined]);
    }
    // Neither can whoever has the password put another factor beside it, nor take it away.
    const another = { factor_type: 'totp', friendly_name: 'of the thief' };
    expect((await subject.post('/factors', another, bearer(session))).status).toBe(403);
    expect((await subject.send('DELETE', `/factors/${id}`, undefined, bearer(session))).status).toBe(422);
    expect((await subject.get('/user', bearer(session))).body['factors']).toHaveLength(1);

    const path = `/admin/users/${userId}/factors/${id}`;
    expect((await subject.send('DELETE', path, undefined, serviceRole(subject))).status).toBe(200);
    expect((await signIn(subject, email, PASSWORD)).body.user?.['factors'] ?? []).toEqual([]);
    // What an administrator took away is neither brought back nor told of again.
    expect((await take()).unprovable).toEqual([]);
  });

  it('however many there are, each is told', async () => {
    await old.script(`insert into :schema.users (id, email, created_at)
      select gen_random_uuid(), 'person-' || n || '@old.example', now() from generate_series(1, 750) n;
      insert into :schema.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
      select gen_random_uuid(), id, 'webauthn', 'verified', now(), now() from :schema.users`);
    expect((await take()).unprovable).toHaveLength(750);
    expect((await take()).unprovable).toHaveLength(750);
  });
});

test('attack: a session that was raised by a factor it does not have any more', async () => {
  const userId = await put('ada@old.example', confirmed);
  const methods = ['password', 'totp', 'mfa/phone', 'mfa/webauthn'];
  const token = await putSession(userId, methods, { aal: 'aal2', factor_id: null });
  await take();
  const answer = await subject.post('/token?grant_type=refresh_token', { refresh_token: token });
  expect(claimsOf(subject, answer)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] });
});

test('what was raised by a factor that came along stays so', async () => {
  const userId = await put('ada@old.example', confirmed);
  const factorId = await putFactor(userId, { factor_type: 'webauthn' });
  const raised = { aal: 'aal2', factor_id: factorId };
  const token = await putSession(userId, ['password', 'mfa/webauthn'], raised);
  await take();
  const answer = await subject.post('/token?grant_type=refresh_token', { refresh_token: token });
  const { aal, amr } = claimsOf(subject, answer);
  expect([aal, amr?.map(({ method }) => method).sort()]).toEqual(['aal2', ['mfa/webauthn', 'password']]);
});

describe('what GoTrue changed after a user was taken over', () => {
  test.each([
    ['a password', async () => `encrypted_password = '${await hash('another')}'`],
    ['a ban', async () => `banned_until = '2999-01-01'`],
    ['a deletion', async () => `deleted_at = now()`],
    ['an address', async () => `email = 'new@old.example'`],
    ['a role', async () => `raw_app_meta_data = '{"role": "none"}'`],
  ])('%s is told by every later run, and not taken', async (_name, change) => {
    const id = await put('ada@old.example', confirmed);
    await put('bob@old.example', confirmed);
    expect((await take()).changedThere).toEqual([]);
    // Signing in there changes the row as well, and nothing that matters here.
    await old.script(`update :schema.users set last_sign_in_at = now(), updated_at = now()`);
    expect((await take()).changedThere).toEqual([]);
    await old.script(`update :schema.users set ${await change()} where id = '${id}'`);
    const before = await subject.snapshot();
    for (const dryRun of [true, false, false]) {
      const { changedThere } = await take({ dryRun });
      expect(changedThere).toEqual([expect.stringMatching(`^user ${id} \\(.*@old.example\\)$`)]);
    }
    expect(await subject.snapshot()).toBe(before);
  });

  it('sessions that ended there end here, too, unless they were continued here', async () => {
    const [ada, bob, carl] = await Promise.all(
      ['ada', 'bob', 'carl'].map((name) => put(`${name}@old.example`, confirmed)),
    );
    const token = { ada: 'tokenofada22', bob: 'tokenofbob22', carl: 'tokenofcarl2', kept: 'tokenkept222' };
    const begin = async (userId = '', text: string) => {
      await putSession(userId, ['password'], {}, text);
    };
    await begin(ada, token.ada);
    await begin(ada, token.kept);
    await begin(bob, token.bob);
    await begin(carl, token.carl);
    await take();
    const refresh = (refresh_token: unknown) =>
      subject.post('/token?grant_type=refresh_token', { refresh_token });
    const continued = await refresh(token.bob);
    await old.script(`delete from :schema.sessions s using :schema.refresh_tokens t
      where t.session_id = s.id and t.token <> '${token.kept}';
      delete from :schema.refresh_tokens where token <> '${token.kept}';
      delete from :schema.users where id = '${carl}'`);
    const before = await subject.snapshot();
    await take({ dryRun: true });
    expect(await subject.snapshot()).toBe(before);
    const { notes } = await take();
    expect([...notes]).toEqual([[expect.stringMatching(/^sessions that ended there/), 1]]);
    expect((await refresh(token.ada)).body['error_code']).toBe('refresh_token_not_found');
    expect((await refresh(token.kept)).status).toBe(200);
    expect((await refresh(continued.body.refresh_token)).status).toBe(200);
    // Of a user who is not there at all: it may be another GoTrue that the run reads.
    expect((await refresh(token.carl)).status).toBe(200);
  });

  it('a dump of some tables ends no session', async () => {
    const userId = await put('ada@old.example', confirmed);
    await putSession(userId, ['password'], {}, 'tokenofada22');
    await take();
    const dump = await old.dump();
    const text = await readFile(dump, 'utf8');
    await writeFile(dump, text.replace(/^COPY gotrue\.sessions [\s\S]*?^\\\.$/m, ''));
    const source = await openDumpSource(dump, old.schema);
    expect(source.has('users')).toBe(true);
    await importGoTrue(subject.context, { dryRun: false, auditLog: false, onProgress: () => {}, source });
    const answer = await subject.post('/token?grant_type=refresh_token', { refresh_token: 'tokenofada22' });
    expect(answer.status).toBe(200);
  });

  it('however many there are, each is told', async () => {
    await old.script(`insert into :schema.users (id, email, created_at)
      select gen_random_uuid(), 'person-' || n || '@old.example', now() from generate_series(1, 750) n`);
    await take();
    await old.script(`update :schema.users set banned_until = '2999-01-01'`);
    expect((await take()).changedThere).toHaveLength(750);
  });
});
