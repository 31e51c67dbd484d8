import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimsOf, confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const signIn = (body: unknown) => subject.post('/token?grant_type=password', body);

describe('POST /token?grant_type=password', () => {
  test('answers a session, whose token says who and how', async () => {
    const email = someone();
    const { body } = await confirmedUser(subject, email);
    const auditBefore = (await subject.audit()).length;
    subject.clock.advance(60_000);
    const answer = await signIn({ email: email.toUpperCase(), password: PASSWORD });
    const now = Math.floor(subject.clock.now().getTime() / 1000);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(Object.keys(answer.body)).toEqual([
      'access_token',
      'token_type',
      'expires_in',
      'expires_at',
      'refresh_token',
      'user',
    ]);
    expect(answer.body).toMatchObject({ token_type: 'bearer', expires_in: 3600, expires_at: now + 3600 });
    expect(answer.body.user).toMatchObject({
      id: body.user?.id,
      last_sign_in_at: subject.clock.now().toISOString().replace('Z', '000Z'),
    });
    expect(claimsOf(subject, answer)).toMatchObject({
      sub: body.user?.id,
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: '',
      iat: now,
      exp: now + 3600,
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: now }],
      session_id: expect.any(String),
      is_anonymous: false,
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: expect.objectContaining({ email }),
    });
    expect((await subject.audit()).slice(auditBefore)).toEqual(['login']);
  });

  test('each sign-in is a session of its own', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const [one, two] = [
      await signIn({ email, password: PASSWORD }),
      await signIn({ email, password: PASSWORD }),
    ];
    expect(claimsOf(subject, one).session_id).not.toBe(claimsOf(subject, two).session_id);
  });

  test('a banned user is told so, but only with the right password', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where email = ${email}`;
    const before = await subject.snapshot();
    expect((await signIn({ email, password: PASSWORD })).body).toEqual({
      code: 400,
      error_code: 'user_banned',
      msg: 'User is banned',
    });
    expect((await signIn({ email, password: 'wrong password' })).body).toMatchObject({
      error_code: 'invalid_credentials',
    });
    expect(await subject.snapshot()).toBe(before);
  });

  test("a hash of other costs is replaced by one of today's", async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const old = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1 });
    await subject.rows.autocommit()
      .run`update :schema.users set encrypted_password = ${old} where email = ${email}`;
    expect((await signIn({ email, password: PASSWORD })).status).toBe(200);
    const user = await subject.rows.autocommit().row<{ encrypted_password: string }>`
      select encrypted_password from :schema.users where email = ${email}`;
    expect(user?.encrypted_password).toMatch(/m=7168,t=5,p=1/);
    expect((await signIn({ email, password: PASSWORD })).status).toBe(200);
  });

  test('a password older than the policy is reported', async () => {
    await using strict = await startSubject();
    const email = someone();
    await confirmedUser(strict, email);
    Object.assign(strict.context, { settings: { ...strict.context.settings, PASSWORD_MIN_LENGTH: 20 } });
    const answer = await strict.post('/token?grant_type=password', { email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body['weak_password']).toEqual({
      message: 'Password should be at least 20 characters.',
      reasons: ['length'],
    });
  });

  test.each([
    [
      { email: 'a@b.c', phone: '+1', password: 'x' },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided on login.',
    ],
    [{ phone: '+14155552671', password: 'x' }, 422, 'phone_provider_disabled', 'Phone logins are disabled'],
    [{ password: 'x' }, 400, 'validation_failed', 'missing email or phone'],
    [
      { email: 'nobody@example.com', password: PASSWORD },
      400,
      'invalid_credentials',
      'Invalid login credentials',
    ],
    [{ email: 'nobody@example.com' }, 400, 'invalid_credentials', 'Invalid login credentials'],
    [
      { email: 'no address at all', password: PASSWORD },
      400,
      'invalid_credentials',
      'Invalid login credentials',
    ],
  ])('%j → %i %s, and nothing changed', async (body, status, error_code, msg) => {
    const before = await subject.snapshot();
    const answer = await signIn(body);
    expect(answer.body).toEqual({ code: status, error_code, msg });
    expect(answer.status).toBe(status);
    expect(await subject.snapshot()).toBe(before);
  });

  test.each(['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=utf-8'])(
    'a form (%s) has the grant in its body',
    async (type) => {
      const email = someone();
      await confirmedUser(subject, email);
      const form = (fields: Record<string, string>) =>
        subject.send('POST', '/token', new URLSearchParams(fields).toString(), { 'content-type': type });
      const session = await form({ grant_type: 'password', email, password: PASSWORD });
      expect(session.status).toBe(200);
      const token = session.body.refresh_token ?? '';
      expect((await form({ grant_type: 'refresh_token', refresh_token: token })).status).toBe(200);
      const before = await subject.snapshot();
      expect(
        (await form({ grant_type: 'client_credentials', email, password: PASSWORD })).body,
      ).toMatchObject({
        msg: 'unsupported_grant_type',
      });
      expect(await subject.snapshot()).toBe(before);
    },
  );

  test('another audience has other users: the address is unknown there, and nothing changed', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const grant = (headers: Record<string, string>) =>
      subject.post('/token?grant_type=password', { email, password: PASSWORD }, headers);
    const before = await subject.snapshot();
    expect((await grant({ 'x-jwt-aud': 'another' })).body).toMatchObject({
      error_code: 'invalid_credentials',
    });
    expect(await subject.snapshot()).toBe(before);
    expect((await grant({ 'x-jwt-aud': 'authenticated' })).status).toBe(200);
  });

  test('EXTERNAL_EMAIL_ENABLED=false refuses', async () => {
    await using closed = await startSubject({ AUTHSVC_EXTERNAL_EMAIL_ENABLED: 'false' });
    const answer = await closed.post('/token?grant_type=password', { email: 'a@b.c', password: 'x' });
    expect(answer.body).toEqual({
      code: 422,
      error_code: 'email_provider_disabled',
      msg: 'Email logins are disabled',
    });
  });

  test.each(['/token', '/token?grant_type=', '/token?grant_type=client_credentials'])(
    '%s is no grant we know',
    async (path) => {
      const answer = await subject.post(path, { email: 'a@b.c', password: 'x' });
      expect(answer.body).toEqual({
        code: 400,
        error_code: 'invalid_credentials',
        msg: 'unsupported_grant_type',
      });
    },
  );
});

describe('with a phone number', () => {
  let phones: Subject;
  const number = '14155552671';
  const withNumber = (phone: string, password = PASSWORD, on = phones) =>
    on.post('/token?grant_type=password', { phone, password });
  beforeAll(async () => {
    phones = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
    const email = someone();
    await confirmedUser(phones, email);
    await phones.rows.autocommit().run`
      update :schema.users set email = null, email_confirmed_at = null, phone = ${number},
        phone_confirmed_at = created_at where email = ${email}`;
  });
  afterAll(() => phones[Symbol.asyncDispose]());

  test.each([number, `+${number}`, '+1 415 555 2671'])('%s signs in, and the log says how', async (phone) => {
    const answer = await withNumber(phone);
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({ phone: number });
    expect(claimsOf(phones, answer)).toMatchObject({ phone: number, amr: [{ method: 'password' }] });
    const entry = await phones.rows.autocommit().row<{ payload: object }>`
      select payload from :schema.audit_log_entries order by age(xmin), ctid desc`;
    expect(entry?.payload).toMatchObject({
      action: 'login',
      actor_username: number,
      traits: { provider: 'phone' },
    });
  });

  test.each([
    ['a wrong password', number, 'wrong password'],
    ['an unknown number', '14155550000', PASSWORD],
    ['no number at all', "'; drop table users", PASSWORD],
    ['an address', 'ada@example.com', PASSWORD],
    ['two plus signs', `++${number}`, PASSWORD],
  ])('%s is refused in the same words, and nothing changed', async (_name, phone, password) => {
    const before = await phones.snapshot();
    const answer = await withNumber(phone, password);
    expect(answer.body).toEqual({
      code: 400,
      error_code: 'invalid_credentials',
      msg: 'Invalid login credentials',
    });
    expect(await phones.snapshot()).toBe(before);
  });

  test('a number nobody proved is refused, but only with the right password', async () => {
    await using unproven = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
    const email = someone();
    await confirmedUser(unproven, email);
    await unproven.rows.autocommit().run`update :schema.users set phone = ${number} where email = ${email}`;
    const before = await unproven.snapshot();
    expect((await withNumber(number, PASSWORD, unproven)).body).toEqual({
      code: 400,
      error_code: 'phone_not_confirmed',
      msg: 'Phone not confirmed',
    });
    expect((await withNumber(number, 'wrong password', unproven)).body).toMatchObject({
      error_code: 'invalid_credentials',
    });
    expect(await unproven.snapshot()).toBe(before);
  });
});
