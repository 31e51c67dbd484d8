import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, claimsOf, confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { newestTo } from './support/mailbox.ts';

const ANONYMOUS = { AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' };
let subject: Subject;
beforeAll(async () => {
  subject = await startSubject(ANONYMOUS);
});
afterAll(() => subject[Symbol.asyncDispose]());

test('a sign-up without address or number makes an anonymous user and signs it in, in one statement', async () => {
  await using quiet = await startSubject(ANONYMOUS);
  const auditBefore = await quiet.audit();
  let answer = await quiet.get('/health');
  const work = async () => {
    answer = await quiet.post('/signup', { data: { theme: 'dark' } });
  };
  expect(await quiet.countRoundTrips(work)).toBe(1);
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body.user).toMatchObject({
    email: '',
    phone: '',
    is_anonymous: true,
    app_metadata: {},
    user_metadata: { theme: 'dark' },
    identities: [],
    last_sign_in_at: expect.any(String),
  });
  expect(claimsOf(quiet, answer)).toMatchObject({
    is_anonymous: true,
    role: 'authenticated',
    amr: [{ method: 'anonymous' }],
    email: '',
  });
  expect(await quiet.audit()).toEqual(auditBefore);
  const refreshed = await quiet.post('/token?grant_type=refresh_token', {
    refresh_token: answer.body.refresh_token,
  });
  expect(refreshed.status).toBe(200);
  expect((await quiet.get('/user', bearer(refreshed))).body).toMatchObject({ is_anonymous: true });
});

test.each([
  ['is off', {}, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled'],
  [
    'may, but nobody may sign up',
    { ...ANONYMOUS, AUTHSVC_DISABLE_SIGNUP: 'true' },
    'signup_disabled',
    'Signups not allowed for this instance',
  ],
])('anonymous sign-up %s: 422, and nothing changed', async (_name, environment, error_code, msg) => {
  await using closed = await startSubject(environment);
  const before = await closed.snapshot();
  expect((await closed.post('/signup', {})).body).toEqual({ code: 422, error_code, msg });
  expect(await closed.snapshot()).toBe(before);
});

test('a confirmed address makes it a user like any other', async () => {
  const session = await subject.post('/signup', { data: { theme: 'dark' } });
  const email = someone();
  const wished = await subject.send(
    'PUT',
    '/user',
    JSON.stringify({ email, password: PASSWORD }),
    bearer(session),
  );
  expect(wished.body).toMatchObject({ email: '', new_email: email, is_anonymous: true });
  // The password is worth nothing before the address is proven.
  const grant = { email, password: PASSWORD };
  expect((await subject.post('/token?grant_type=password', grant)).status).toBe(400);
  const { token } = await newestTo(subject, email);
  const changed = await subject.post('/verify', { type: 'email_change', token_hash: token });
  expect(changed.body.user).toMatchObject({
    id: session.body.user?.id,
    email,
    email_confirmed_at: expect.any(String),
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { theme: 'dark', email, email_verified: true },
    identities: [
      { provider: 'email', email, id: session.body.user?.id, identity_data: { email_verified: true } },
    ],
  });
  expect(claimsOf(subject, changed)).toMatchObject({ is_anonymous: false });
  expect((await subject.post('/token?grant_type=password', grant)).status).toBe(200);
});

test('a confirmed number does so as well', async () => {
  await using phones = await startSubject({
    ...ANONYMOUS,
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    AUTHSVC_SMS_TEST_OTP: '14155552671:123456',
  });
  const session = await phones.post('/signup', {});
  const wished = await phones.send('PUT', '/user', '{"phone":"+1 415 555 2671"}', bearer(session));
  expect(wished.body).toMatchObject({
    phone: '',
    new_phone: '14155552671',
    phone_change_sent_at: expect.any(String),
  });
  const changed = await phones.post('/verify', {
    type: 'phone_change',
    phone: '+14155552671',
    token: '123456',
  });
  expect(changed.body.user).toMatchObject({
    id: session.body.user?.id,
    phone: '14155552671',
    is_anonymous: false,
    app_metadata: { provider: 'phone', providers: ['phone'] },
    identities: [{ provider: 'phone' }],
  });
});

test('with autoconfirm the address counts at once', async () => {
  await using auto = await startSubject({ ...ANONYMOUS, AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  const session = await auto.post('/signup', {});
  const email = someone();
  const changed = await auto.send('PUT', '/user', JSON.stringify({ email }), bearer(session));
  expect(changed.body).toMatchObject({
    email,
    is_anonymous: false,
    email_confirmed_at: expect.any(String),
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { email, email_verified: true },
    identities: [{ provider: 'email', email }],
  });
  expect(await auto.mails()).toEqual([]);
});

test('two who want the same address at once, at the same moment: one gets it', async () => {
  await using auto = await startSubject({ ...ANONYMOUS, AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  const email = someone();
  const sessions = [await auto.post('/signup', {}), await auto.post('/signup', {})];
  const answers = await Promise.all(
    sessions.map((session) => auto.send('PUT', '/user', JSON.stringify({ email }), bearer(session))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  expect(answers.find(({ status }) => status === 422)?.body).toMatchObject({ error_code: 'email_exists' });
});

test.each([
  [
    'a password alone',
    { password: PASSWORD },
    422,
    'validation_failed',
    'Updating password of an anonymous user without an email or phone is not allowed',
  ],
  [
    'app_metadata',
    { app_metadata: { admin: true } },
    403,
    'not_admin',
    'Updating app_metadata requires admin privileges',
  ],
])('PUT /user with %s is refused, and nothing changed', async (_name, body, code, error_code, msg) => {
  const session = await subject.post('/signup', {});
  const before = await subject.snapshot();
  const answer = await subject.send('PUT', '/user', JSON.stringify(body), bearer(session));
  expect(answer.body).toEqual({ code, error_code, msg });
  expect(await subject.snapshot()).toBe(before);
});

test('somebody’s address is not to be had', async () => {
  const email = someone();
  await confirmedUser(subject, email);
  const session = await subject.post('/signup', {});
  const before = await subject.snapshot();
  const answer = await subject.send('PUT', '/user', JSON.stringify({ email }), bearer(session));
  expect(answer.body).toMatchObject({ code: 422, error_code: 'email_exists' });
  expect(await subject.snapshot()).toBe(before);
});

test('data of an anonymous user is changed like that of any other', async () => {
  const session = await subject.post('/signup', { data: { a: 1, b: 2 } });
  const answer = await subject.send('PUT', '/user', '{"data":{"b":null,"c":3}}', bearer(session));
  expect(answer.body['user_metadata']).toEqual({ a: 1, c: 3 });
});
