import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  claimsOf,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('POST /signup with confirmation', () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject();
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('answers the user, unconfirmed, and mails a link', async () => {
    const email = someone();
    const answer = await subject.post('/signup', {
      email: email.toUpperCase(),
      password: PASSWORD,
      data: { name: 'Ada' },
    });
    const at = '2026-01-02T03:04:05.678000Z';
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    const id = answer.body.id ?? '';
    expect(id).toMatch(UUID);
    const metadata = { sub: id, email, email_verified: false, phone_verified: false, name: 'Ada' };
    expect(answer.body).toEqual({
      id,
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: '',
      confirmation_sent_at: at,
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: metadata,
      identities: [
        {
          identity_id: expect.stringMatching(UUID),
          id,
          user_id: id,
          identity_data: metadata,
          provider: 'email',
          last_sign_in_at: at,
          created_at: at,
          updated_at: at,
          email,
        },
      ],
      created_at: at,
      updated_at: at,
      is_anonymous: false,
    });
    const mails = await subject.mails();
    expect(mails).toHaveLength(1);
    expect(mails[0]?.headers.get('to')).toBe(email);
    expect(mails[0]?.headers.get('subject')).toBe('Confirm Your Signup');
    const { url, token, code } = readMail(mails[0]);
    expect(url.origin + url.pathname).toBe('https://auth.example/verify');
    expect(token).toMatch(/^[0-9a-f]{56}$/);
    expect(code).toMatch(/^\d{6}$/);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      token,
      type: 'signup',
      redirect_to: 'https://site.example',
    });
    expect(await subject.audit()).toEqual(['user_confirmation_requested']);
  });

  test('cannot be used to sign in before the address is confirmed', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    const answer = await subject.post('/token?grant_type=password', { email, password: PASSWORD });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ code: 400, error_code: 'email_not_confirmed', msg: 'Email not confirmed' });
  });

  test('a permitted redirect_to travels in the link, another is replaced', async () => {
    await subject.post('/signup?redirect_to=https://site.example/%23/in', {
      email: someone('r1'),
      password: PASSWORD,
    });
    await subject.post('/signup?redirect_to=https://evil.example/', {
      email: someone('r2'),
      password: PASSWORD,
    });
    const targets = (await subject.mails())
      .slice(-2)
      .map((mail) => readMail(mail).url.searchParams.get('redirect_to'));
    expect(targets.sort()).toEqual(['https://site.example', 'https://site.example/#/in']);
  });

  test('again, unconfirmed: the newest code works, the old one does not, and its sign-up’s password counts', async () => {
    const email = someone('again');
    const first = await subject.post('/signup', { email, password: PASSWORD });
    subject.clock.advance(60_000);
    const second = await subject.post('/signup', { email, password: 'another password' });
    expect(second.body.id).toBe(first.body.id);
    const mails = (await subject.mails()).filter(({ headers }) => headers.get('to') === email);
    expect(mails).toHaveLength(2);
    const tokens = mails.map((mail) => readMail(mail).token);
    const tries = await Promise.all(
      tokens.map((token_hash) => subject.post('/verify', { type: 'signup', token_hash })),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 403]);
    const signIn = (password: string) => subject.post('/token?grant_type=password', { email, password });
    expect((await signIn('another password')).status).toBe(200);
    expect((await signIn(PASSWORD)).status).toBe(400);
  });

  test('again, unconfirmed: nothing that came with an earlier sign-up is left once the newest is proven', async () => {
    const email = someone('again');
    await subject.post('/signup', { email, password: PASSWORD, data: { name: 'Stranger', evil: true } });
    subject.clock.advance(60_000);
    const { body } = await subject.post('/signup', { email, password: PASSWORD, data: { name: 'Owner' } });
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const session = await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token });
    const metadata = { name: 'Owner', sub: body.id, email, email_verified: true, phone_verified: false };
    expect(session.body.user?.['user_metadata']).toEqual(metadata);
    expect(session.body.user?.['identities']).toMatchObject([{ identity_data: metadata }]);
    expect(JSON.stringify(session.body.user?.['identities'])).not.toContain('evil');
  });

  test('again, invited: what an administrator gave the account stays', async () => {
    const email = someone('invited');
    await subject.post('/signup', { email, password: PASSWORD, data: { team: 'red' } });
    await subject.rows.autocommit()
      .run`update :schema.users set invited_at = created_at where email = ${email}`;
    subject.clock.advance(60_000);
    await subject.post('/signup', { email, password: 'my own one', data: { team: 'blue' } });
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const session = await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token });
    expect(session.body.user).toMatchObject({ user_metadata: { team: 'red' } });
    // Whoever typed it need not be who was invited.
    const grant = { email, password: 'my own one' };
    expect((await subject.post('/token?grant_type=password', grant)).status).toBe(400);
  });

  test('again too soon: 429, and nothing changed, whether the address is new, pending or taken', async () => {
    const [fresh, pending, taken] = [someone('fresh'), someone('pending'), someone('taken')];
    await subject.post('/signup', { email: pending, password: PASSWORD });
    await confirmedUser(subject, taken);
    subject.clock.advance(60_000);
    const wrong = { type: 'signup', email: pending, token: 'abcdef' };
    for (const email of [fresh, pending, taken]) {
      expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(200);
    }
    await subject.post('/verify', wrong);
    subject.clock.advance(1_500);
    const before = await subject.snapshot();
    for (const email of [fresh, pending, taken]) {
      const answer = await subject.post('/signup', { email, password: PASSWORD });
      expect([answer.status, answer.headers['retry-after'], answer.headers['x-sb-error-code']]).toEqual([
        429,
        '59',
        'over_email_send_rate_limit',
      ]);
      expect(answer.body).toEqual({
        code: 429,
        error_code: 'over_email_send_rate_limit',
        msg: 'For security purposes, you can only request this after 59 seconds.',
      });
    }
    expect(await subject.snapshot()).toBe(before); // the wrong guess counts on
    subject.clock.advance(58_499);
    for (const email of [fresh, pending, taken]) {
      expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(429);
    }
    subject.clock.advance(1);
    for (const email of [fresh, pending, taken]) {
      expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(200);
    }
  });

  test('right after somebody confirmed the address the limit tells nothing of it', async () => {
    const [confirmed, pending] = [someone(), someone()];
    await confirmedUser(subject, confirmed);
    await subject.post('/signup', { email: pending, password: PASSWORD });
    const answers = [];
    for (const email of [confirmed, pending]) {
      answers.push(await subject.post('/signup', { email, password: PASSWORD }));
    }
    expect(answers.map(({ status }) => status)).toEqual([429, 429]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });

  test('SMTP_MAX_FREQUENCY sets how soon, 0 lifts the limit', async () => {
    await using slow = await startSubject({ AUTHSVC_SMTP_MAX_FREQUENCY: '15m' });
    await using free = await startSubject({ AUTHSVC_SMTP_MAX_FREQUENCY: '0' });
    const body = { email: someone(), password: PASSWORD };
    const twice = async (on: Subject) => [await on.post('/signup', body), await on.post('/signup', body)];
    expect((await twice(slow)).map(({ headers }) => headers['retry-after'])).toEqual([undefined, '900']);
    expect((await twice(free)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('duplicate: the answer is that of a new address, no mail is sent and only the log knows', async () => {
    const email = someone('duplicate');
    const real = await confirmedUser(subject, email);
    subject.clock.advance(60_000);
    const mailsBefore = (await subject.mails()).length;
    const auditBefore = (await subject.audit()).length;
    const faux = await subject.post('/signup', { email, password: PASSWORD, data: { name: 'Eve' } });
    const fresh = await subject.post('/signup', {
      email: someone('fresh'),
      password: PASSWORD,
      data: { name: 'Eve' },
    });
    expect(faux.status).toBe(fresh.status);
    expect(shapeOf(faux.body)).toEqual(shapeOf(fresh.body));
    expect(faux.body.id).toMatch(UUID);
    expect(faux.body.id).not.toBe(real.body.user?.id);
    expect(await subject.mails()).toHaveLength(mailsBefore + 1); // the fresh one's
    expect((await subject.audit()).slice(auditBefore).sort()).toEqual(
      ['user_confirmation_requested', 'user_repeated_signup'].sort(),
    );
  });

  /** Keys, types, and every value that does not name a person. */
  function shapeOf(body: object): unknown {
    return JSON.parse(
      JSON.stringify(body)
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid')
        .replace(/[a-z]+-[0-9a-f]{8}@example\.com/g, 'address'),
    );
  }

  const good = { email: 'new@example.com', password: PASSWORD };
  test.each([
    ['1', '{', 400, 'bad_json', /^Could not parse request body as JSON: /],
    [
      '1: no body',
      undefined,
      400,
      'bad_json',
      /^Could not parse request body as JSON: unexpected end of JSON input$/,
    ],
    ['1: wrong type', { email: 7 }, 400, 'bad_json', /cannot unmarshal field email/],
    ['1: no object', '[]', 400, 'bad_json', /cannot unmarshal the body/],
    ['2: anonymous', {}, 422, 'anonymous_provider_disabled', /^Anonymous sign-ins are disabled$/],
    ['4', { email: 'a@b.c' }, 400, 'validation_failed', /^Signup requires a valid password$/],
    [
      '5',
      { ...good, password: '12345' },
      422,
      'weak_password',
      /^Password should be at least 6 characters\.$/,
    ],
    [
      '5: too long',
      { ...good, password: 'x'.repeat(73) },
      400,
      'validation_failed',
      /longer than 72 characters$/,
    ],
    [
      '6',
      { ...good, phone: '+14155552671' },
      400,
      'validation_failed',
      /^Only an email address or phone number should be provided on signup\.$/,
    ],
    [
      '10: phone',
      { phone: '+14155552671', password: PASSWORD },
      400,
      'phone_provider_disabled',
      /^Phone signups are disabled$/,
    ],
    [
      '11',
      { ...good, email: 'not an address' },
      400,
      'validation_failed',
      /^Unable to validate email address: invalid format$/,
    ],
    [
      '9, a code challenge that is too short',
      { ...good, code_challenge: 'x', code_challenge_method: 's256' },
      400,
      'validation_failed',
      /^code challenge has to be between 43 and 128 characters$/,
    ],
  ] as const)('step %s: %j → %i %s, and nothing changed', async (_step, body, status, code, message) => {
    const before = await subject.snapshot();
    const answer = await subject.send(
      'POST',
      '/signup',
      typeof body === 'object' ? JSON.stringify(body) : (body as string | undefined),
    );
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({
      code: status,
      error_code: code,
      msg: expect.stringMatching(message),
    });
    expect(answer.headers['x-sb-error-code']).toBe(code);
    expect(await subject.snapshot()).toBe(before);
  });

  test('field names are compared without case, unknown fields and the content type do not matter', async () => {
    const payload = JSON.stringify({
      Email: someone(),
      PASSWORD,
      password: PASSWORD,
      nonsense: { deep: [] },
    });
    expect((await subject.send('POST', '/signup', payload, { 'content-type': 'text/plain' })).status).toBe(
      200,
    );
  });
});

describe('POST /signup with MAILER_AUTOCONFIRM', () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('answers a session at once and sends no mail', async () => {
    const email = someone();
    const answer = await subject.post('/signup', { email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { email } });
    expect(answer.body).not.toHaveProperty('type');
    expect(claimsOf(subject, answer)).toMatchObject({ amr: [{ method: 'password' }], email });
    expect(await subject.mails()).toEqual([]);
    expect((await subject.audit()).sort()).toEqual(['login', 'user_signedup']);
  });

  test('duplicate: 400 with the body of the contract', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    const answer = await subject.post('/signup', { email, password: PASSWORD });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      code: 400,
      error_code: 'user_already_exists',
      msg: 'User already registered',
    });
    expect((await subject.audit()).at(-1)).toBe('user_repeated_signup');
  });

  test('duplicate, versioned: 422 with the body of today', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    const version = { 'x-supabase-api-version': '2024-01-01' };
    const answer = await subject.post('/signup', { email, password: PASSWORD }, version);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ code: 'user_already_exists', message: 'User already registered' });
    expect(answer.headers['x-supabase-api-version']).toBe('2024-01-01');
  });
});

test('an account that was never confirmed is confirmed by a sign-up under autoconfirm, with the new password', async () => {
  await using subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  const email = someone();
  await subject.post('/signup', { email, password: 'the password of a squatter' });
  await subject.rows.autocommit().run`update :schema.users set email_confirmed_at = null`;
  const answer = await subject.post('/signup', { email, password: PASSWORD });
  expect(answer.body.user).toMatchObject({ email, email_confirmed_at: expect.any(String) });
  expect((await subject.post('/token?grant_type=password', { email, password: PASSWORD })).status).toBe(200);
  const squatter = { email, password: 'the password of a squatter' };
  expect((await subject.post('/token?grant_type=password', squatter)).status).toBe(400);
});

test.each([
  ['AUTHSVC_DISABLE_SIGNUP', 'true', 422, 'signup_disabled', 'Signups not allowed for this instance'],
  ['AUTHSVC_EXTERNAL_EMAIL_ENABLED', 'false', 400, 'email_provider_disabled', 'Email signups are disabled'],
])('%s=%s refuses: %i %s', async (name, value, status, error_code, msg) => {
  await using subject = await startSubject({ [name]: value });
  const before = await subject.snapshot();
  const answer = await subject.post('/signup', { email: someone(), password: PASSWORD });
  expect(answer.body).toEqual({ code: status, error_code, msg });
  expect(await subject.snapshot()).toBe(before);
});

test('X-JWT-AUD does not choose the audience of a new user: nobody makes an account its owner cannot sign in to', async () => {
  await using subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true', AUTHSVC_JWT_AUD: 'one' });
  const email = someone();
  const answer = await subject.post('/signup', { email, password: PASSWORD }, { 'x-jwt-aud': 'two' });
  expect(answer.body.user).toMatchObject({ aud: 'one' });
  const grant = { email, password: PASSWORD };
  expect((await subject.post('/token?grant_type=password', grant)).status).toBe(200);
  expect((await subject.post('/token?grant_type=password', grant, { 'x-jwt-aud': 'two' })).status).toBe(400);
});

describe('POST /signup with a number', () => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject({
      AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
      AUTHSVC_SMS_TEST_OTP: '14155552671:123456',
    });
  });
  afterAll(() => subject[Symbol.asyncDispose]());
  const phone = '+14155552671';

  test('answers the user, and the code signs in', async () => {
    const answer = await subject.post('/signup', { phone, password: PASSWORD });
    expect(answer.body).toMatchObject({
      phone: '14155552671',
      email: '',
      identities: [{ provider: 'phone' }],
    });
    const session = await subject.post('/verify', { type: 'sms', phone, token: '123456' });
    expect(session.body.user).toMatchObject({ id: answer.body.id, phone_confirmed_at: expect.any(String) });
    expect((await subject.post('/token?grant_type=password', { phone, password: PASSWORD })).status).toBe(
      200,
    );
  });

  test.each([
    ['4: before 7', { phone, channel: 'pigeon' }, 400, 'validation_failed', /valid password$/],
    ['5: before 7', { phone, password: '1', channel: 'pigeon' }, 422, 'weak_password', /6 characters/],
    [
      '7: before 11',
      { phone: 'x', password: PASSWORD, channel: 'pigeon' },
      400,
      'validation_failed',
      /^Invalid channel/,
    ],
    [
      '8',
      { phone, password: PASSWORD, code_challenge: 'x' },
      400,
      'validation_failed',
      /^PKCE not supported for phone/,
    ],
    ['11', { phone: 'x', password: PASSWORD }, 400, 'validation_failed', /E\.164/],
  ] as const)('step %s: %j → %i %s, and nothing changed', async (_step, body, status, error_code, msg) => {
    const before = await subject.snapshot();
    const answer = await subject.post('/signup', body);
    expect(answer.body).toMatchObject({ code: status, error_code, msg: expect.stringMatching(msg) });
    expect(await subject.snapshot()).toBe(before);
  });
});

test('sign-up that is off says so before it looks at anything else', async () => {
  await using subject = await startSubject({ AUTHSVC_DISABLE_SIGNUP: 'true' });
  expect((await subject.post('/signup', { email: 'x' })).body['error_code']).toBe('signup_disabled');
  expect((await subject.post('/signup', {})).body['error_code']).toBe('anonymous_provider_disabled');
});

test('the mails of the hour count for addresses somebody has as for those nobody has', async () => {
  await using subject = await startSubject({
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    AUTHSVC_RATE_LIMIT_EMAIL_SENT: '3',
  });
  const taken = someone('taken');
  await confirmedUser(subject, taken);
  subject.clock.advance(60_000);
  expect((await subject.post('/signup', { email: taken, password: PASSWORD })).status).toBe(200);
  expect((await subject.post('/recover', { email: someone('nobody') })).status).toBe(200);
  const before = await subject.snapshot();
  const refused = [
    await subject.post('/signup', { email: someone(), password: PASSWORD }),
    await subject.post('/otp', { email: someone() }),
    await subject.post('/recover', { email: taken }),
  ];
  for (const { body } of refused) {
    expect(body).toMatchObject({
      code: 429,
      error_code: 'over_email_send_rate_limit',
      msg: 'email rate limit exceeded',
    });
  }
  expect(await subject.snapshot()).toBe(before);
});

test.each([
  ['/signup', () => ({ email: someone(), password: PASSWORD })],
  ['/signup', () => ({ phone: '14155550111', password: PASSWORD })],
  ['/signup', () => ({})],
  ['/magiclink', () => ({ email: someone() })],
  ['/otp', () => ({ email: someone() })],
  ['/otp', () => ({ phone: '14155550111' })],
])('nobody begins with more metadata than a token can carry: %s', async (path, who) => {
  await using subject = await startSubject({
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
  });
  const before = await subject.snapshot();
  const answer = await subject.post(path, { ...who(), data: { avatar: 'x'.repeat(530_000) } });
  expect(answer.body).toMatchObject({
    error_code: 'validation_failed',
    msg: 'user_metadata cannot be larger than 524288 bytes',
  });
  expect(await subject.snapshot()).toBe(before);
});
