import { describe, expect, it } from 'vitest';
import * as users from '../src/store/users.ts';
import { type Answer, confirmedUser, PASSWORD, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';
import { capturedSms, lastCode } from './support/captured-sms.ts';
import {
  changePhone,
  confirmedPhone,
  INVALID_CODE,
  MINUTE,
  personOf,
  refused,
  signIn,
  signUp,
  somePhone,
  start,
  verify,
  wrong,
} from './support/phones.ts';
import { smsEmulator, TWILIO_CODE } from './support/sms-emulators.ts';

describe('sign-up with a number', () => {
  it('attack: takes no address that the index of addresses has no room for', async () => {
    await using subject = await start();
    const long = Array.from({ length: 400 }, (_, n) => (n * 7919).toString(36)).join('');
    for (const email of [long.repeat(3), { long }, 1]) {
      const phone = somePhone();
      const session = await confirmedPhone(subject, phone, { data: { email, name: 'Ada' } });
      expect(session.body.user).toMatchObject({ user_metadata: { name: 'Ada', phone } });
      expect(session.body.user?.['user_metadata']).not.toHaveProperty('email');
    }
    const { body } = await confirmedPhone(subject, somePhone(), { data: { email: 'a@example.com' } });
    expect(body.user).toMatchObject({ email: '', user_metadata: { email: 'a@example.com' } });
  });

  it('sends a code; who types it has a session, and the password works from then on', async () => {
    await using subject = await start();
    const phone = somePhone();
    const answer = await signUp(subject, `+${phone}`, {
      data: { name: 'Ada', phone_verified: true, sub: 'x' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body['access_token']).toBeUndefined();
    const id = answer.body.id ?? '';
    expect(answer.body).toMatchObject({
      email: '',
      phone,
      role: 'authenticated',
      app_metadata: { provider: 'phone', providers: ['phone'] },
      user_metadata: { name: 'Ada', sub: id, phone, email_verified: false, phone_verified: false },
      identities: [
        { id, user_id: id, provider: 'phone', identity_data: { sub: id, phone, phone_verified: false } },
      ],
    });
    expect(answer.body['confirmation_sent_at']).toBeDefined();
    expect(answer.body['phone_confirmed_at']).toBeUndefined();
    const [sms, ...others] = await capturedSms(subject);
    expect(others).toHaveLength(0);
    expect(sms).toMatchObject({ to: phone, text: `Your code is ${sms?.code}` });
    expect(sms?.code).toMatch(/^\d{6}$/);
    expect(await subject.mails()).toHaveLength(0);

    expect(await refused(subject, () => signIn(subject, phone))).toEqual([
      400,
      'phone_not_confirmed',
      'Phone not confirmed',
    ]);
    const session = await verify(subject, `+${phone}`, sms?.code ?? '');
    expect(session.status).toBe(200);
    expect(session.body).toMatchObject({ token_type: 'bearer', user: { id, phone } });
    expect(session.body.user?.['phone_confirmed_at']).toBeDefined();
    expect(session.body.user?.['identities']).toMatchObject([{ identity_data: { phone_verified: true } }]);
    expect(session.body.user?.['user_metadata']).toMatchObject({ name: 'Ada', phone_verified: true });
    expect((await signIn(subject, `+1 ${phone.slice(1)}`)).status).toBe(200);
    expect(await subject.audit()).toEqual(['user_confirmation_requested', 'user_signedup', 'login']);
  });

  it.each([
    ['no number', { phone: '12ab' }, 'validation_failed', 'Invalid phone number format (E.164 required)'],
    [
      'too short a number',
      { phone: '+1' },
      'validation_failed',
      'Invalid phone number format (E.164 required)',
    ],
    ['another channel', { channel: 'pigeon' }, 'validation_failed', /^Invalid channel, supported values/],
    [
      'WhatsApp without Twilio',
      { channel: 'whatsapp' },
      'validation_failed',
      /^Invalid channel, supported values/,
    ],
    [
      'PKCE',
      { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' },
      'validation_failed',
      'PKCE not supported for phone signups',
    ],
    [
      'an address as well',
      { email: 'a@example.com' },
      'validation_failed',
      /^Only an email address or phone number/,
    ],
    ['a weak password', { password: '1' }, 'weak_password', /./],
  ])('is refused with %s', async (_name, extra, code, message) => {
    await using subject = await start();
    const [, errorCode, text] = await refused(subject, () => signUp(subject, somePhone(), extra));
    expect(errorCode).toBe(code);
    expect(text).toMatch(message);
    expect(await capturedSms(subject)).toHaveLength(0);
  });

  it('is refused where phones are disabled, and so is everything else with a number', async () => {
    await using subject = await startSubject();
    const phone = somePhone();
    expect(await refused(subject, () => signUp(subject, phone))).toEqual([
      400,
      'phone_provider_disabled',
      'Phone signups are disabled',
    ]);
    expect(await refused(subject, () => subject.post('/otp', { phone }))).toEqual([
      400,
      'phone_provider_disabled',
      'Unsupported phone provider',
    ]);
    expect(await refused(subject, () => subject.post('/resend', { type: 'sms', phone }))).toEqual([
      400,
      'phone_provider_disabled',
      'Phone logins are disabled',
    ]);
    expect(await refused(subject, () => signIn(subject, phone))).toEqual([
      422,
      'phone_provider_disabled',
      'Phone logins are disabled',
    ]);
    expect(await refused(subject, () => verify(subject, phone, '123456'))).toEqual(INVALID_CODE);
  });

  it('answers a number somebody has like a new one, and sends nothing', async () => {
    await using subject = await start();
    const phone = somePhone();
    await confirmedPhone(subject, phone, { data: { secret: 1 } });
    const fresh = await signUp(subject, somePhone(), { data: { a: 1 } });
    const sent = (await capturedSms(subject)).length;
    const before = await personOf(subject, await signIn(subject, phone));
    const again = await signUp(subject, phone, { data: { a: 1 } });
    expect(again.status).toBe(200);
    const shape = ({ body }: Answer) => JSON.stringify(body).replaceAll(/"[^"]*\d[^"]*"/g, '"…"');
    expect(shape(again)).toBe(shape(fresh));
    expect(again.body.id).not.toBe(before.user.id);
    expect(await capturedSms(subject)).toHaveLength(sent);
    expect((await personOf(subject, await signIn(subject, phone))).user.encrypted_password).toBe(
      before.user.encrypted_password,
    );
    subject.clock.advance(MINUTE);
    expect((await signUp(subject, phone)).body.id).toBe(again.body.id);
  });

  it('that is repeated before the code was typed counts with its own code', async () => {
    await using subject = await start();
    const phone = somePhone();
    await signUp(subject, phone, { password: 'the stranger was first', data: { stranger: true } });
    const strangers = await lastCode(subject, phone);
    subject.clock.advance(MINUTE - 1);
    const soon = await refused(subject, () => signUp(subject, phone));
    expect(soon.slice(0, 2)).toEqual([429, 'over_sms_send_rate_limit']);
    subject.clock.advance(1);
    await signUp(subject, phone, { data: { owner: true } });
    const owners = await lastCode(subject, phone);
    if (strangers !== owners) expect((await verify(subject, phone, strangers)).status).toBe(403);
    const session = await verify(subject, phone, owners);
    expect(session.body.user?.['user_metadata']).toMatchObject({ owner: true, phone_verified: true });
    expect((await signIn(subject, phone)).status).toBe(200);
    expect((await signIn(subject, phone, 'the stranger was first')).status).toBe(400);
  });

  it('of a stranger is worth nothing to him once the owner signs in by code', async () => {
    await using subject = await start();
    const phone = somePhone();
    await signUp(subject, phone, { password: 'the stranger was first', data: { stranger: true } });
    await capturedSms(subject);
    subject.clock.advance(MINUTE);
    await subject.post('/otp', { phone });
    await capturedSms(subject);
    // A code that is sent once more is of the same kind.
    subject.clock.advance(MINUTE);
    await subject.post('/resend', { type: 'sms', phone });
    const session = await verify(subject, phone, await lastCode(subject, phone));
    expect(session.status).toBe(200);
    expect(session.body.user?.['user_metadata']).not.toHaveProperty('stranger');
    expect((await signIn(subject, phone, 'the stranger was first')).status).toBe(400);
  });

  it('keeps its password when the code comes once more', async () => {
    await using subject = await start();
    const phone = somePhone();
    await signUp(subject, phone);
    await capturedSms(subject);
    subject.clock.advance(10 * MINUTE);
    await subject.post('/resend', { type: 'sms', phone });
    await verify(subject, phone, await lastCode(subject, phone));
    expect((await signIn(subject, phone)).status).toBe(200);
  });

  it('of the same number many times at once is one account and one message', async () => {
    await using subject = await start();
    const phone = somePhone();
    const answers = await Promise.all(Array.from({ length: 12 }, () => signUp(subject, phone)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 11 }, () => 429),
    ]);
    expect(await capturedSms(subject)).toHaveLength(1);
  });

  it('signs in at once where numbers need no confirmation; who has the number is refused', async () => {
    await using subject = await start({ AUTHSVC_SMS_AUTOCONFIRM: 'true' });
    const phone = somePhone();
    const answer = await signUp(subject, phone);
    expect(answer.body.user).toMatchObject({ phone });
    expect(answer.body.user?.['phone_confirmed_at']).toBeDefined();
    const again = await signUp(subject, phone, { password: 'another one' });
    expect(again.body['error_code']).toBe('user_already_exists');
    expect((await signIn(subject, phone, 'another one')).status).toBe(400);
    expect((await signIn(subject, phone)).status).toBe(200);
    expect(await capturedSms(subject)).toHaveLength(0);
    expect(await subject.audit()).toEqual(['user_signedup', 'login', 'user_repeated_signup', 'login']);
  });
});

describe('sign-in with a code (POST /otp)', () => {
  it('makes an account without a password, and names the message', async () => {
    await using subject = await start();
    const phone = somePhone();
    const { status, body } = await subject.post('/otp', { phone: `+${phone}`, data: { name: 'Ada' } });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['message_id']);
    const [sms] = await capturedSms(subject);
    expect(sms?.id).toBe(body['message_id']);
    const session = await verify(subject, phone, sms?.code ?? '');
    expect(session.body.user).toMatchObject({ phone, user_metadata: { name: 'Ada', phone_verified: true } });
    expect((await signIn(subject, phone, '')).status).toBe(400);
    expect(await subject.audit()).toEqual(['user_confirmation_requested', 'user_signedup']);
  });

  it.each([
    ['', []],
    [', sent once more', [{ type: 'sms' }]],
  ])('takes no metadata from a stranger who asked for a code of the number before%s', async (_, resent) => {
    await using subject = await start();
    const phone = somePhone();
    await subject.post('/otp', { phone, data: { stranger: true } });
    const strangers = await lastCode(subject, phone);
    subject.clock.advance(MINUTE);
    await subject.post('/otp', { phone, data: { name: 'Ada' } });
    for (const body of resent) {
      subject.clock.advance(MINUTE);
      await subject.post('/resend', { ...body, phone });
    }
    const owners = await lastCode(subject, phone);
    if (strangers !== owners) expect((await verify(subject, phone, strangers)).status).toBe(403);
    const { user } = (await verify(subject, phone, owners)).body;
    expect(user).toMatchObject({ phone, user_metadata: { name: 'Ada', phone, phone_verified: true } });
    expect(user).toMatchObject({ identities: [{ identity_data: { name: 'Ada', phone_verified: true } }] });
    expect(JSON.stringify(user)).not.toContain('stranger');
  });

  it('leaves what an administrator gave', async () => {
    await using subject = await start();
    const phone = somePhone();
    const given = { phone, password: PASSWORD, user_metadata: { team: 'ours' } };
    await subject.post('/admin/users', given, serviceRole(subject));
    await subject.post('/otp', { phone, data: { team: 'theirs' } });
    const { user } = (await verify(subject, phone, await lastCode(subject, phone))).body;
    expect(user).toMatchObject({ phone, user_metadata: { team: 'ours', phone_verified: true } });
    expect((await signIn(subject, phone)).status).toBe(200);
  });

  it('signs in who has an account, and leaves password and metadata alone', async () => {
    await using subject = await start();
    const phone = somePhone();
    const first = await confirmedPhone(subject, phone, { data: { name: 'Ada' } });
    const { body } = await subject.post('/otp', { phone });
    expect((await capturedSms(subject)).at(-1)?.id).toBe(body['message_id']);
    const session = await verify(subject, phone, await lastCode(subject, phone));
    expect(session.body.user?.id).toBe(first.body.user?.id);
    expect(session.body.user?.['user_metadata']).toMatchObject({ name: 'Ada' });
    expect((await signIn(subject, phone)).status).toBe(200);
    expect((await subject.audit()).slice(2)).toEqual(['user_recovery_requested', 'login', 'login']);
  });

  it('does not tell numbers nobody has: neither by the answer, nor by the limit, nor by statements', async () => {
    await using subject = await start();
    const known = somePhone();
    const unknown = somePhone();
    // The outbox rests while round trips are counted: its own would be among them.
    await signUp(subject, known);
    subject.clock.advance(MINUTE);
    const ask = (phone: string) => subject.post('/otp', { phone, create_user: false });
    const trips: number[] = [];
    for (const phone of [known, unknown]) {
      trips.push(
        await subject.countRoundTrips(async () => {
          const { status, body } = await ask(phone);
          expect([status, Object.keys(body)]).toEqual([200, ['message_id']]);
          expect(body['message_id']).toMatch(/^[0-9a-f-]{36}$/);
        }),
      );
    }
    expect(trips[0]).toBe(trips[1]);
    for (const phone of [known, unknown]) {
      const { status, body, headers } = await ask(phone);
      expect([status, body['error_code'], headers['retry-after']]).toEqual([
        429,
        'over_sms_send_rate_limit',
        '60',
      ]);
      expect(body['msg']).toBe('For security purposes, you can only request this after 60 seconds.');
    }
    // The sign-up's own expired meanwhile.
    expect((await capturedSms(subject)).map(({ to }) => to)).toEqual([known]);
    expect(await users.findByPhone(subject.context.database.autocommit(), unknown)).toBeUndefined();
  });

  it('makes nobody where sign-up is disabled', async () => {
    await using subject = await start({ AUTHSVC_DISABLE_SIGNUP: 'true' });
    const phone = somePhone();
    expect((await subject.post('/otp', { phone })).status).toBe(200);
    expect(await capturedSms(subject)).toHaveLength(0);
    expect(await users.findByPhone(subject.context.database.autocommit(), phone)).toBeUndefined();
  });

  it.each([
    [{ phone: 'x' }, 'Invalid phone number format (E.164 required)'],
    [{ phone: '14155550000', channel: 'whatsapp' }, /^Invalid channel/],
    [
      { phone: '14155550000', email: 'a@example.com' },
      'Only an email address or phone number should be provided',
    ],
    [{}, 'One of email or phone must be set'],
  ])('is refused: %j', async (body, message) => {
    await using subject = await start();
    const [status, code, text] = await refused(subject, () => subject.post('/otp', body));
    expect([status, code]).toEqual([400, 'validation_failed']);
    expect(text).toMatch(message);
  });

  it('knows no limit where the operator sets none, and only the newest code counts', async () => {
    await using subject = await start({ AUTHSVC_SMS_MAX_FREQUENCY: '0', AUTHSVC_SMS_OTP_LENGTH: '10' });
    const phone = somePhone();
    await subject.post('/otp', { phone });
    const first = await lastCode(subject, phone);
    subject.clock.advance(1);
    await subject.post('/otp', { phone });
    const second = await lastCode(subject, phone);
    expect(second).toMatch(/^\d{10}$/);
    expect((await verify(subject, phone, first)).status).toBe(403);
    expect((await verify(subject, phone, second)).status).toBe(200);
  });
});

describe("the hour's messages", () => {
  it('are counted whoever they are for, and none goes out after the last', async () => {
    await using subject = await start({
      AUTHSVC_RATE_LIMIT_ENABLED: 'true',
      AUTHSVC_RATE_LIMIT_SMS_SENT: '3',
    });
    expect((await signUp(subject, somePhone())).status).toBe(200);
    expect((await subject.post('/otp', { phone: somePhone() })).status).toBe(200);
    expect((await subject.post('/otp', { phone: somePhone(), create_user: false })).status).toBe(200);
    for (const send of [
      () => signUp(subject, somePhone()),
      () => subject.post('/otp', { phone: somePhone() }),
      () => subject.post('/otp', { phone: somePhone(), create_user: false }),
      () => subject.post('/resend', { type: 'sms', phone: somePhone() }),
    ]) {
      expect(await refused(subject, send)).toEqual([
        429,
        'over_sms_send_rate_limit',
        'SMS rate limit exceeded',
      ]);
    }
    subject.clock.advance(20 * MINUTE);
    expect((await signUp(subject, somePhone())).status).toBe(200);
  });
});

describe('a code by SMS', () => {
  it('is good once', async () => {
    await using subject = await start();
    const phone = somePhone();
    await subject.post('/otp', { phone });
    const code = await lastCode(subject, phone);
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(subject, phone, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 403),
    ]);
    expect(await refused(subject, () => verify(subject, phone, code))).toEqual(INVALID_CODE);
  });

  it('is good for a minute', async () => {
    await using subject = await start();
    const phone = somePhone();
    await subject.post('/otp', { phone });
    const code = await lastCode(subject, phone);
    subject.clock.advance(MINUTE);
    expect(await refused(subject, () => verify(subject, phone, code))).toEqual(INVALID_CODE);
  });

  it('is spent after ten wrong guesses, however many come at once', async () => {
    await using subject = await start();
    const phone = somePhone();
    await subject.post('/otp', { phone });
    const code = await lastCode(subject, phone);
    const guesses = await Promise.all(Array.from({ length: 20 }, () => verify(subject, phone, wrong(code))));
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([403]));
    expect(await refused(subject, () => verify(subject, phone, code))).toEqual(INVALID_CODE);
    subject.clock.advance(MINUTE);
    await subject.post('/otp', { phone });
    expect((await verify(subject, phone, await lastCode(subject, phone))).status).toBe(200);
  });

  it('still counts after nine wrong guesses', async () => {
    await using subject = await start();
    const phone = somePhone();
    await subject.post('/otp', { phone });
    const code = await lastCode(subject, phone);
    for (let tries = 0; tries < 9; tries++) await verify(subject, phone, wrong(code));
    expect((await verify(subject, phone, code)).status).toBe(200);
  });

  it('is for its number and its purpose only', async () => {
    await using subject = await start();
    const phone = somePhone();
    const other = somePhone();
    await subject.post('/otp', { phone });
    await subject.post('/otp', { phone: other });
    const code = await lastCode(subject, phone);
    if (code !== (await lastCode(subject, other)))
      expect((await verify(subject, other, code)).status).toBe(403);
    expect((await verify(subject, phone, code, 'phone_change')).status).toBe(403);
    expect((await verify(subject, phone, code, 'signup')).status).toBe(400);
    expect((await subject.post('/verify', { type: 'sms', token: code })).status).toBe(400);
    expect((await subject.post('/verify', { type: 'sms', token_hash: code })).status).toBe(400);
    expect((await verify(subject, phone, code)).status).toBe(200);
  });

  it('does not sign in who is banned', async () => {
    await using subject = await start();
    const phone = somePhone();
    await confirmedPhone(subject, phone);
    await subject.post('/otp', { phone });
    const code = await lastCode(subject, phone);
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where phone = ${phone}`;
    expect(await refused(subject, () => verify(subject, phone, code))).toEqual([
      403,
      'user_banned',
      'User is banned',
    ]);
  });

  it('lies nowhere in clear', async () => {
    await using subject = await start();
    const phone = somePhone();
    await signUp(subject, phone);
    const stored = await subject.snapshot();
    const code = await lastCode(subject, phone);
    expect(code).not.toBe('');
    expect(stored).toContain(phone);
    expect(stored.replaceAll(phone, '')).not.toMatch(new RegExp(`(?<![0-9a-f.])${code}(?![0-9a-f])`));
  });
});

describe('POST /resend with a number', () => {
  it('sends once more what somebody waits for, and tells nobody else', async () => {
    await using subject = await start();
    const waiting = somePhone();
    const confirmed = somePhone();
    const unknown = somePhone();
    await confirmedPhone(subject, confirmed);
    await signUp(subject, waiting);
    await capturedSms(subject);
    subject.clock.advance(MINUTE);
    const before = (await capturedSms(subject)).length;
    for (const phone of [waiting, confirmed, unknown]) {
      for (const type of ['sms', 'phone_change']) {
        const { status, body } = await subject.post('/resend', { type, phone: `+${phone}` });
        expect([status, Object.keys(body)]).toEqual([200, ['message_id']]);
        const soon = await subject.post('/resend', { type, phone });
        expect([soon.status, soon.body['error_code']]).toEqual([429, 'over_sms_send_rate_limit']);
        // Delivered before the clock moves: a message whose code expired meanwhile is not sent.
        await capturedSms(subject);
        subject.clock.advance(MINUTE);
      }
    }
    const after = (await capturedSms(subject)).slice(before);
    expect(after.map(({ to }) => to)).toEqual([waiting]);
  });
});

describe("testers' numbers", () => {
  const environment = { AUTHSVC_SMS_TEST_OTP: '+1 415 555 2671:123456' };
  const TESTER = '14155552671';

  it('get no message and take their code, however late', async () => {
    await using subject = await start(environment);
    expect((await subject.post('/otp', { phone: TESTER })).body).toEqual({ message_id: 'test-otp' });
    expect((await capturedSms(subject)).length).toBe(0);
    expect((await verify(subject, TESTER, '123457')).status).toBe(403);
    subject.clock.advance(60 * MINUTE);
    const session = await verify(subject, TESTER, '123456');
    expect(session.body.user).toMatchObject({ phone: TESTER });
    expect((await verify(subject, TESTER, '123456')).status).toBe(403);
  });

  it('cannot be guessed more often than others', async () => {
    await using subject = await start(environment);
    await subject.post('/otp', { phone: TESTER });
    for (let tries = 0; tries < 10; tries++) await verify(subject, TESTER, '000000');
    expect((await verify(subject, TESTER, '123456')).status).toBe(403);
  });

  it('take it once where a sign-up and a sign-in wait for it: of the two the later one counts', async () => {
    await using subject = await start(environment);
    for (const password of [PASSWORD, 'another password']) {
      await subject.post('/signup', { phone: TESTER, password });
      subject.clock.advance(MINUTE);
    }
    await subject.post('/otp', { phone: TESTER, data: { name: 'Grace' } });
    const session = await verify(subject, TESTER, '123456');
    expect(session.body.user).toMatchObject({ phone: TESTER, user_metadata: { name: 'Grace' } });
    for (const password of [PASSWORD, 'another password']) {
      expect((await signIn(subject, TESTER, password)).status).toBe(400);
    }
    expect((await verify(subject, TESTER, '123456')).status).toBe(403);
  });

  it('are numbers like all others after their time', async () => {
    await using subject = await start({
      ...environment,
      AUTHSVC_SMS_TEST_OTP_VALID_UNTIL: '2026-01-02T04:00:00Z',
    });
    await subject.post('/otp', { phone: TESTER });
    subject.clock.advance(60 * MINUTE);
    expect((await verify(subject, TESTER, '123456')).status).toBe(403);
    expect((await subject.post('/otp', { phone: TESTER })).body['message_id']).not.toBe('test-otp');
    expect(await capturedSms(subject)).toHaveLength(1);
  });
});

describe('with Twilio Verify', () => {
  it('codes are made and checked there', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    await using subject = await startSubject(emulator.environment);
    const phone = somePhone();
    await subject.post('/otp', { phone, channel: 'whatsapp' });
    await subject.mails();
    expect(emulator.taken).toMatchObject([{ to: `+${phone}`, rest: { Channel: 'whatsapp' } }]);
    expect((await verify(subject, phone, '000000')).status).toBe(403);
    // Twilio's codes live ten minutes, not as long as the settings say.
    subject.clock.advance(9 * MINUTE);
    const session = await verify(subject, phone, TWILIO_CODE);
    expect(session.body.user).toMatchObject({ phone });
    expect(await refused(subject, () => verify(subject, phone, TWILIO_CODE))).toEqual(INVALID_CODE);
  });

  it('is asked for open codes only, and ten times at most', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    await using subject = await startSubject(emulator.environment);
    const phone = somePhone();
    expect(await refused(subject, () => verify(subject, phone, TWILIO_CODE))).toEqual(INVALID_CODE);
    expect(emulator.requests).toHaveLength(0);
    await subject.post('/otp', { phone });
    await subject.mails();
    await Promise.all(Array.from({ length: 20 }, () => verify(subject, phone, '000000')));
    expect(emulator.requests.filter(({ path }) => path.endsWith('VerificationCheck'))).toHaveLength(10);
    expect((await verify(subject, phone, TWILIO_CODE)).status).toBe(403);
  });

  it('nobody is signed in while it is down', async () => {
    await using emulator = await smsEmulator('twilio_verify');
    await using subject = await startSubject(emulator.environment);
    const phone = somePhone();
    await subject.post('/otp', { phone });
    await subject.mails();
    emulator.answerNext('hang-up');
    const answer = await verify(subject, phone, TWILIO_CODE);
    expect([answer.status, answer.body['error_code']]).toEqual([503, 'sms_provider_unavailable']);
    expect(await subject.rows.autocommit().rows`select id from :schema.sessions`).toHaveLength(0);
    expect((await verify(subject, phone, TWILIO_CODE)).status).toBe(200);
  });

  it("a number two accounts wait for is nobody's", async () => {
    await using emulator = await smsEmulator('twilio_verify');
    await using subject = await startSubject({ ...emulator.environment });
    const accounts = [await confirmedUser(subject), await confirmedUser(subject)];
    const wanted = somePhone();
    for (const account of accounts) {
      await changePhone(subject, account, wanted);
      await subject.mails();
      subject.clock.advance(MINUTE);
    }
    const before = (await subject.rows.autocommit().rows`select id from :schema.sessions`).length;
    expect((await verify(subject, wanted, TWILIO_CODE, 'phone_change')).status).toBe(403);
    expect(await subject.rows.autocommit().rows`select id from :schema.sessions`).toHaveLength(before);
  });
});
