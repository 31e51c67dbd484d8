import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bearer,
  claimsOf,
  codeIn,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const signIn = (email: string, password: string, on = subject) =>
  on.post('/token?grant_type=password', { email, password });
const tooSoon = (seconds: number) => ({
  code: 429,
  error_code: 'over_email_send_rate_limit',
  msg: `For security purposes, you can only request this after ${seconds} seconds.`,
});
/** An account nobody has confirmed, made by somebody who knows its first password. */
async function pendingUser(on = subject, email = someone()) {
  const answer = await on.post('/signup', { email, password: 'of a stranger', data: { name: 'Stranger' } });
  on.clock.advance(60_000);
  return { email, id: String(answer.body.id) };
}

describe('POST /recover', () => {
  test('mails a link that signs in, and with it a new password is set', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const auditBefore = (await subject.audit()).length;
    const answer = await subject.post('/recover?redirect_to=https://site.example/new', { email });
    expect([answer.status, answer.text]).toEqual([200, '{}']);
    const mail = (await mailsTo(subject, email)).at(-1);
    expect(mail?.headers.get('subject')).toBe('Reset Your Password');
    const { url, token } = readMail(mail);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      token,
      type: 'recovery',
      redirect_to: 'https://site.example/new',
    });
    const session = await subject.post('/verify', { type: 'recovery', token_hash: token });
    expect(session.body).toMatchObject({ type: 'recovery', user: { email } });
    expect(claimsOf(subject, session)).toMatchObject({ amr: [{ method: 'otp' }] });
    expect((await subject.audit()).slice(auditBefore)).toEqual(['user_recovery_requested', 'login']);
    const changed = await subject.send('PUT', '/user', '{"password":"a new one"}', bearer(session));
    expect(changed.status).toBe(200);
    expect((await signIn(email, PASSWORD)).status).toBe(400);
    expect((await signIn(email, 'a new one')).status).toBe(200);
  });

  test('an address nobody has gets the same answer, limit and number of statements, and nothing else', async () => {
    const [known, pending, unknown] = [someone(), someone(), someone()];
    await confirmedUser(subject, known);
    await pendingUser(subject, pending);
    const mailsBefore = (await subject.mails()).length;
    await (await subject.outbox()).drain();
    await using other = await startSubject();
    await other.post('/signup', { email: known, password: PASSWORD });
    const answers = [];
    for (const email of [known, unknown]) {
      let answer = await subject.get('/health');
      // On a subject without a worker, which would make round trips of its own.
      expect(await other.countRoundTrips(() => other.post('/recover', { email }))).toBe(2);
      answer = await subject.post('/recover', { email });
      const again = await subject.post('/recover', { email: email.toUpperCase() });
      answers.push([answer.status, answer.text, again.status, again.text, again.headers['retry-after']]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]?.slice(0, 3)).toEqual([200, '{}', 429]);
    expect(await subject.mails()).toHaveLength(mailsBefore + 1);
    expect(await mailsTo(subject, unknown)).toEqual([]);
  });

  test('too soon: 429, and nothing changed', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    await subject.post('/recover', { email });
    await subject.mails();
    subject.clock.advance(20_000);
    const before = await subject.snapshot();
    const answer = await subject.post('/recover', { email });
    expect(answer.body).toEqual(tooSoon(40));
    expect(answer.headers['retry-after']).toBe('40');
    expect(await subject.snapshot()).toBe(before);
    subject.clock.advance(40_000);
    expect((await subject.post('/recover', { email })).status).toBe(200);
  });

  test('an account that was never confirmed is confirmed by it, without what a stranger gave it', async () => {
    const { email, id } = await pendingUser();
    await subject.post('/recover', { email });
    const session = await subject.post('/verify', {
      type: 'recovery',
      token_hash: (await newestTo(subject, email)).token,
    });
    const identity = { sub: id, email, email_verified: true, phone_verified: false };
    expect(session.body.user).toMatchObject({ id, email_confirmed_at: expect.any(String) });
    expect(session.body.user?.['user_metadata']).toEqual(identity);
    expect(session.body.user?.['identities']).toMatchObject([{ identity_data: identity }]);
    expect(session.text).not.toContain('Stranger');
    expect((await signIn(email, 'of a stranger')).status).toBe(400);
  });

  test.each([
    [{}, 400, 'validation_failed', 'Password recovery requires an email'],
    [{ email: 'x' }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
    [
      { email: 'a@b.c', code_challenge: 'x' },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
  ])('%j → %i %s, and nothing changed', async (body, status, error_code, msg) => {
    const before = await subject.snapshot();
    expect((await subject.post('/recover', body)).body).toEqual({ code: status, error_code, msg });
    expect(await subject.snapshot()).toBe(before);
  });

  test('16 at once: one mail', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const answers = await Promise.all(Array.from({ length: 16 }, () => subject.post('/recover', { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(429)]);
    expect(await mailsTo(subject, email)).toHaveLength(2);
  });
});

describe('POST /magiclink and POST /otp with an address', () => {
  test.each(['/magiclink', '/otp'])('%s mails a confirmed user a link and a code', async (path) => {
    const email = someone();
    await confirmedUser(subject, email);
    expect((await subject.post(path, { email: email.toUpperCase() })).text).toBe('{}');
    const mail = (await mailsTo(subject, email)).at(-1);
    expect(mail?.headers.get('subject')).toBe('Your Magic Link');
    expect(readMail(mail).url.searchParams.get('type')).toBe('magiclink');
    const session = await subject.post('/verify', { type: 'email', email, token: codeIn(mail) });
    expect(session.body).toMatchObject({ type: 'magiclink', user: { email } });
    expect((await subject.audit()).slice(-2)).toEqual(['user_recovery_requested', 'login']);
    // The password of an account that was proven before stays.
    expect((await signIn(email, PASSWORD)).status).toBe(200);
  });

  test('who has no account gets one, confirmed by the mail, with the data that was sent', async () => {
    const email = someone();
    expect((await subject.post('/otp', { email, data: { name: 'Ada' } })).text).toBe('{}');
    const mail = (await mailsTo(subject, email)).at(-1);
    expect(mail?.headers.get('subject')).toBe('Confirm Your Signup');
    const session = await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token });
    expect(session.body.user).toMatchObject({
      email,
      user_metadata: { name: 'Ada', email_verified: true },
      app_metadata: { provider: 'email', providers: ['email'] },
    });
    expect((await signIn(email, '')).status).toBe(400);
  });

  test('an account that was never confirmed loses what a stranger gave it, and only when the code is proven', async () => {
    const { email, id } = await pendingUser();
    // Twice, so that there is a password waiting with the code as well.
    await subject.post('/signup', { email, password: 'of a stranger', data: { evil: true } });
    subject.clock.advance(60_000);
    await subject.post('/magiclink', { email, data: { name: 'Owner' } });
    expect((await signIn(email, 'of a stranger')).body['error_code']).toBe('email_not_confirmed');
    const { token } = await newestTo(subject, email);
    const session = await subject.post('/verify', { type: 'signup', token_hash: token });
    expect(session.body.user?.['user_metadata']).toEqual({
      sub: id,
      email,
      name: 'Owner',
      email_verified: true,
      phone_verified: false,
    });
    expect((await signIn(email, 'of a stranger')).status).toBe(400);
    const own = await subject.send('PUT', '/user', '{"password":"my own one"}', bearer(session));
    expect(own.status).toBe(200);
    expect((await signIn(email, 'my own one')).status).toBe(200);
  });

  test('the code of a link for somebody without a password can bring one', async () => {
    const { email } = await pendingUser();
    await subject.post('/magiclink', { email });
    const { token } = await newestTo(subject, email);
    await subject.post('/verify', { type: 'signup', token_hash: token, password: 'my own one' });
    expect((await signIn(email, 'my own one')).status).toBe(200);
  });

  test('so can the code of a recovery that proves the account: of the password before nothing is left', async () => {
    const { email } = await pendingUser();
    await subject.post('/recover', { email });
    const { token } = await newestTo(subject, email);
    const verify = (password: string) =>
      subject.post('/verify', { type: 'recovery', token_hash: token, password });
    const before = await subject.snapshot();
    expect((await verify('123')).body).toMatchObject({ error_code: 'weak_password' });
    expect(await subject.snapshot()).toBe(before);
    expect((await verify('my own one')).status).toBe(200);
    expect((await signIn(email, 'my own one')).status).toBe(200);
    expect((await signIn(email, 'of a stranger')).status).toBe(400);
  });

  test('a confirmation that comes after the account was proven otherwise changes no password', async () => {
    const { email, id } = await pendingUser();
    await subject.post('/signup', { email, password: 'of another stranger' });
    await subject.rows.autocommit()
      .run`update :schema.users set email_confirmed_at = created_at where id = ${id}`;
    const { token } = await newestTo(subject, email);
    expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
    expect((await signIn(email, 'of another stranger')).status).toBe(400);
    expect((await signIn(email, 'of a stranger')).status).toBe(200);
  });

  test.each([
    ['sign-up is off', { AUTHSVC_DISABLE_SIGNUP: 'true' }, {}],
    ['no account is wanted', {}, { create_user: false }],
  ])('when %s, nobody new is mailed, and the answer does not tell', async (_name, environment, body) => {
    await using closed = await startSubject(environment);
    const unknown = someone();
    const before = await closed.snapshot();
    const first = await closed.post('/otp', { email: unknown, ...body });
    const second = await closed.post('/otp', { email: unknown, ...body });
    expect([first.status, first.text, second.status]).toEqual([200, '{}', 429]);
    expect(await closed.snapshot()).toBe(before);
    expect(await closed.mails()).toEqual([]);
  });

  test('with autoconfirm: a magic link even for new addresses', async () => {
    await using auto = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
    const email = someone();
    expect((await auto.post('/magiclink', { email })).text).toBe('{}');
    expect(await auto.audit()).toEqual(['user_signedup', 'user_recovery_requested']);
    const { url, token } = await newestTo(auto, email);
    expect(url.searchParams.get('type')).toBe('magiclink');
    expect((await auto.post('/verify', { type: 'magiclink', token_hash: token })).status).toBe(200);
  });

  test('known, new and unwanted addresses take the same number of statements', async () => {
    await using quiet = await startSubject();
    const [known, fresh, unwanted] = [someone(), someone(), someone()];
    await quiet.post('/signup', { email: known, password: PASSWORD });
    expect(await quiet.countRoundTrips(() => quiet.post('/otp', { email: known }))).toBe(2);
    expect(await quiet.countRoundTrips(() => quiet.post('/otp', { email: fresh }))).toBe(2);
    const body = { email: unwanted, create_user: false };
    expect(await quiet.countRoundTrips(() => quiet.post('/otp', body))).toBe(2);
  });

  test.each([
    ['/magiclink', {}, 422, 'validation_failed', 'Password recovery requires an email'],
    [
      '/magiclink',
      { email: 'x' },
      400,
      'validation_failed',
      'Unable to validate email address: invalid format',
    ],
    [
      '/magiclink',
      { email: 'a@b.c', code_challenge: 'x' },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
    [
      '/otp',
      { email: 'a@b.c', phone: '1' },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided',
    ],
    [
      '/otp',
      { email: 'a@b.c', channel: 'sms' },
      400,
      'validation_failed',
      'Channel should only be specified with Phone OTP',
    ],
    [
      '/otp',
      { email: 'a@b.c', code_challenge: 'x' },
      400,
      'validation_failed',
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
    ['/otp', {}, 400, 'validation_failed', 'One of email or phone must be set'],
    ['/otp', { phone: '+14155552671' }, 400, 'phone_provider_disabled', 'Unsupported phone provider'],
    ['/otp', { email: 'x' }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
  ])('%s %j → %i %s, and nothing changed', async (path, body, status, error_code, msg) => {
    const before = await subject.snapshot();
    expect((await subject.post(path, body)).body).toEqual({ code: status, error_code, msg });
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('POST /resend', () => {
  test('mails the confirmation once more, and the old one is void', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: 'of the owner' });
    const old = await newestTo(subject, email);
    expect((await subject.post('/resend', { type: 'signup', email })).status).toBe(429);
    subject.clock.advance(60_000);
    const answer = await subject.post('/resend', { type: 'signup', email });
    expect(answer.body).toEqual({ message_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect((await subject.audit()).at(-1)).toBe('user_confirmation_requested');
    const { token } = await newestTo(subject, email);
    expect((await subject.post('/verify', { type: 'signup', token_hash: old.token })).status).toBe(403);
    expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
    expect((await signIn(email, 'of the owner')).status).toBe(200);
  });

  test.each(['signup', 'email_change'])(
    '%s: who waits for nothing, and nobody at all, get the same answer, limit and number of statements',
    async (type) => {
      await using quiet = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
      const [confirmed, unknown] = [someone(), someone()];
      await quiet.post('/signup', { email: confirmed, password: PASSWORD });
      const before = await quiet.snapshot();
      for (const email of [confirmed, unknown]) {
        let answer = await quiet.get('/health');
        const work = async () => {
          answer = await quiet.post('/resend', { type, email });
        };
        expect(await quiet.countRoundTrips(work)).toBe(2);
        expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['message_id']]);
        expect((await quiet.post('/resend', { type, email })).body).toEqual(tooSoon(60));
      }
      expect(await quiet.snapshot()).toBe(before);
    },
  );

  test.each([
    [{}, 'Missing one of these types: signup, email_change, sms, phone_change'],
    [
      { type: 'recovery', email: 'a@b.c' },
      'Missing one of these types: signup, email_change, sms, phone_change',
    ],
    [{ type: 'signup' }, 'Type provided requires an email address'],
    [{ type: 'sms' }, 'Type provided requires a phone number'],
    [
      { type: 'signup', email: 'a@b.c', phone: '1' },
      'Only an email address or phone number should be provided.',
    ],
    [{ type: 'email_change' }, 'Missing email address or phone number'],
    [{ type: 'phone_change', email: 'a@b.c' }, 'Type provided requires a phone number'],
    [{ type: 'signup', email: 'x' }, 'Unable to validate email address: invalid format'],
    [
      { type: 'signup', email: 'a@b.c', code_challenge: 'x' },
      'PKCE flow requires code_challenge_method and code_challenge',
    ],
  ])('%j → 400 %s, and nothing changed', async (body, msg) => {
    const before = await subject.snapshot();
    const answer = await subject.post('/resend', body);
    expect(answer.body).toEqual({ code: 400, error_code: 'validation_failed', msg });
    expect(await subject.snapshot()).toBe(before);
  });
});

test.each([
  ['AUTHSVC_EXTERNAL_EMAIL_ENABLED', '/recover', 400, 'Email logins are disabled'],
  ['AUTHSVC_EXTERNAL_EMAIL_ENABLED', '/magiclink', 422, 'Email logins are disabled'],
  ['AUTHSVC_EXTERNAL_EMAIL_ENABLED', '/otp', 422, 'Email logins are disabled'],
  ['AUTHSVC_EXTERNAL_EMAIL_ENABLED', '/resend', 400, 'Email logins are disabled'],
  ['AUTHSVC_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED', '/magiclink', 422, 'Login with magic link is disabled'],
])('%s=false: %s → %i %s', async (name, path, code, msg) => {
  await using closed = await startSubject({ [name]: 'false' });
  const before = await closed.snapshot();
  const answer = await closed.post(path, { type: 'signup', email: someone() });
  expect(answer.body).toEqual({ code, error_code: 'email_provider_disabled', msg });
  expect(await closed.snapshot()).toBe(before);
});
