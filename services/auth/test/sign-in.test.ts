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
    expect(user?.encrypted_password).toMatch(/m=19456,t=2,p=1/);
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
