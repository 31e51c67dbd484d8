import { fixedClock } from '@croft/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { type HookEmulator, hookEmulator } from './support/hook-emulator.ts';
import { as, succeeded } from './support/second-factors.ts';

// The hooks send_email and send_sms, which take the place of SMTP and of the SMS service.

let emulator: HookEmulator;
let subject: Subject;
beforeEach(async () => {
  emulator = await hookEmulator(() => fixedClock().now());
});
afterEach(async () => {
  await subject[Symbol.asyncDispose]();
  await emulator[Symbol.asyncDispose]();
});

async function start(settings: Record<string, string> = {}): Promise<void> {
  subject = await startSubject({
    ...emulator.settings('SEND_EMAIL'),
    ...emulator.settings('SEND_SMS'),
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    AUTHSVC_SMTP_MAX_FREQUENCY: '0',
    AUTHSVC_SMS_MAX_FREQUENCY: '0',
    AUTHSVC_URI_ALLOW_LIST: 'https://app.example/**',
    ...settings,
  });
}

interface EmailData {
  token: string;
  token_hash: string;
  token_new: string;
  token_hash_new: string;
  [name: string]: string;
}

/** Delivers what is due; what the hook heard of a mail, newest last. */
async function told(): Promise<{ user: Record<string, unknown>; email_data: EmailData }[]> {
  expect(await subject.mails()).toEqual([]);
  return emulator.questions.map(({ body }) => body as never);
}

/** The last of them. */
async function lastTold() {
  const last = (await told()).at(-1);
  if (last === undefined) throw new Error('the hook was told nothing');
  return last;
}

const verify = (fields: object): Promise<Answer> => subject.post('/verify', fields);

/** A user who confirmed by way of the hook. */
async function signedUp(email = someone()): Promise<Answer> {
  await subject.post('/signup', { email, password: PASSWORD });
  const { email_data } = await lastTold();
  return await verify({ type: 'signup', token_hash: email_data.token_hash });
}

describe('send_email', () => {
  test('is told of a sign-up with all that a mail would say, and no mail is sent', async () => {
    await start();
    const email = someone();
    const signUp = await subject.post('/signup?redirect_to=https://app.example/in', {
      email,
      password: PASSWORD,
      data: { name: 'Ada' },
    });
    const { user, email_data } = await lastTold();
    expect(user).toMatchObject({ id: signUp.body.id, email, user_metadata: { name: 'Ada' } });
    expect(email_data).toEqual({
      token: expect.stringMatching(/^\d{6}$/) as string,
      token_hash: expect.stringMatching(/^[0-9a-f]{56}$/) as string,
      redirect_to: 'https://app.example/in',
      email_action_type: 'signup',
      site_url: 'https://auth.example',
      token_new: '',
      token_hash_new: '',
      old_email: '',
    });
    expect(emulator.questions[0]?.body.metadata).toMatchObject({
      name: 'send-email',
      uuid: emulator.questions[0]?.id,
    });
    expect((await verify({ type: 'email', email, token: email_data.token })).status).toBe(200);
  });

  test('of a link that opens in the browser that asked for it only', async () => {
    await start();
    const email = someone();
    await subject.post('/signup', {
      email,
      password: PASSWORD,
      code_challenge: 'v'.repeat(43),
      code_challenge_method: 'plain',
    });
    expect((await lastTold()).email_data.token_hash).toMatch(/^pkce_[0-9a-f]{56}$/);
  });

  test.each([
    ['/recover', 'recovery', 'recovery'],
    ['/magiclink', 'magiclink', 'magiclink'],
    ['/otp', 'magiclink', 'email'],
  ])('of %s as %s', async (path, action, type) => {
    await start();
    const session = await signedUp();
    const email = session.body.user?.email;
    await subject.post(path, { email });
    const { email_data, user } = await lastTold();
    expect(email_data).toMatchObject({ email_action_type: action, token_new: '', token_hash_new: '' });
    expect(user['id']).toBe(session.body.user?.id);
    expect((await verify({ type, token_hash: email_data.token_hash })).status).toBe(200);
  });

  test('of a reauthentication, which has no link', async () => {
    await start();
    const session = await signedUp();
    await subject.get('/reauthenticate', bearer(session));
    expect((await lastTold()).email_data).toMatchObject({
      email_action_type: 'reauthentication',
      token_hash: '',
    });
  });

  test('of a change of address in one request with both codes, whose names cross', async () => {
    await start();
    const session = await signedUp();
    const wanted = someone();
    const count = (await told()).length;
    await subject.send('PUT', '/user', JSON.stringify({ email: wanted }), bearer(session));
    expect(await told()).toHaveLength(count + 1);
    const { user, email_data } = await lastTold();
    expect(user).toMatchObject({ email: session.body.user?.email, new_email: wanted });
    expect(email_data).toMatchObject({ email_action_type: 'email_change' });
    const { token, token_hash, token_new, token_hash_new } = email_data;
    expect(new Set([token_hash, token_hash_new]).size).toBe(2);
    const present = String(session.body.user?.email);
    expect((await verify({ type: 'email_change', email: wanted, token })).status).toBe(403);
    expect((await verify({ type: 'email_change', email: present, token: token_new })).status).toBe(403);
    const half = await verify({ type: 'email_change', email: present, token });
    expect(half.body).toMatchObject({ code: '200' });
    expect((await verify({ type: 'email_change', token_hash: token_hash_new })).status).toBe(403);
    const changed = await verify({ type: 'email_change', token_hash });
    expect(changed.body.user).toMatchObject({ email: wanted });
  });

  test('of what is still missing of a change, when it is asked for again', async () => {
    await start();
    const session = await signedUp();
    const present = String(session.body.user?.email);
    const wanted = someone();
    await subject.send('PUT', '/user', JSON.stringify({ email: wanted }), bearer(session));
    const first = await lastTold();
    await verify({ type: 'email_change', email: wanted, token: first.email_data.token_new });
    await subject.post('/resend', { type: 'email_change', email: present });
    const { token, token_hash, token_new, token_hash_new } = (await lastTold()).email_data;
    expect([token_hash, token_new]).toEqual(['', '']);
    expect(token).toMatch(/^\d{6}$/);
    expect((await verify({ type: 'email_change', token_hash: token_hash_new })).body.user).toMatchObject({
      email: wanted,
    });
  });

  test('of a change that only the new address confirms', async () => {
    await start({ AUTHSVC_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false' });
    const session = await signedUp();
    const wanted = someone();
    await subject.send('PUT', '/user', JSON.stringify({ email: wanted }), bearer(session));
    const { token, token_hash, token_new, token_hash_new } = (await lastTold()).email_data;
    expect([token_new, token_hash_new]).toEqual(['', '']);
    expect(token_hash).toMatch(/^[0-9a-f]{56}$/);
    expect((await verify({ type: 'email_change', email: wanted, token })).body.user).toMatchObject({
      email: wanted,
    });
  });

  test('of nothing that is not sent: a taken address, an unknown one', async () => {
    await start();
    const session = await signedUp();
    emulator.questions.length = 0;
    await subject.post('/signup', { email: session.body.user?.email, password: PASSWORD });
    await subject.post('/recover', { email: someone() });
    expect(await told()).toEqual([]);
  });

  test('of no code that was replaced or used before it was told', async () => {
    await start();
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    await subject.post('/resend', { type: 'signup', email });
    expect(await told()).toHaveLength(1);
  });

  test('later, under the same id, when it failed; and no request waits for it', async () => {
    await start();
    emulator.answer = () => undefined;
    const startedAt = performance.now();
    const email = someone();
    expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    emulator.answer = (response) => void response.writeHead(500).end();
    const outbox = await subject.outbox();
    await outbox.drain();
    emulator.answer = {};
    subject.clock.advance(60_000);
    expect(await told()).toHaveLength(2);
    expect(emulator.questions[1]?.id).toBe(emulator.questions[0]?.id);
    const { body, id } = emulator.questions[1] ?? {};
    expect(body?.['email_data']).toEqual(emulator.questions[0]?.body['email_data']);
    expect(id).toBe(body?.metadata.uuid);
  });

  test('once only, when it will not have it', async () => {
    await start();
    emulator.answer = { error: { http_code: 422, message: 'no such mailbox' } };
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await (await subject.outbox()).drain();
    const rows = await subject.rows.autocommit().rows<{ parked: boolean; reason: string }>`
      select parked_at is not null as parked, last_error as reason from :schema.outbox`;
    expect(rows).toEqual([{ parked: true, reason: 'the hook refused it with status 422' }]);
  });

  test('attack: no code is in the database in clear while it waits', async () => {
    await start();
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    const before = await subject.snapshot();
    const { token, token_hash } = (await lastTold()).email_data;
    expect(before).not.toContain(token_hash);
    expect(before).not.toMatch(new RegExp(`\\b${token}\\b`));
  });
});

describe('send_sms', () => {
  const PHONE = '14155552671';

  test('is told of a code with its user, and the code works', async () => {
    await start();
    await subject.post('/signup', { phone: PHONE, password: PASSWORD });
    expect(await subject.mails()).toEqual([]);
    const { body, id } = emulator.questions[0] ?? {};
    expect(body).toMatchObject({
      metadata: { name: 'send-sms', uuid: id },
      user: { phone: PHONE },
    });
    const sms = body?.['sms'] as { otp: string } | undefined;
    expect(sms).toEqual({ otp: expect.stringMatching(/^\d{6}$/) as string, phone: PHONE });
    expect((await verify({ type: 'sms', phone: PHONE, token: sms?.otp })).status).toBe(200);
  });

  test('of the code of a factor, which is called one', async () => {
    await start({ AUTHSVC_MFA_PHONE_ENROLL_ENABLED: 'true', AUTHSVC_MFA_PHONE_VERIFY_ENABLED: 'true' });
    const session = await signedUp();
    const own = as(subject, session);
    const { id } = succeeded(await own.post('/factors', { factor_type: 'phone', phone: PHONE })).body;
    emulator.questions.length = 0;
    const asked = succeeded(await own.post(`/factors/${id}/challenge`));
    await subject.mails();
    expect(emulator.questions).toHaveLength(1);
    const { body } = emulator.questions[0] ?? {};
    expect(body).toMatchObject({ user: { id: session.body.user?.id } });
    const sms = body?.['sms'] as { otp: string } | undefined;
    expect(sms).toEqual({
      otp: expect.stringMatching(/^\d{6}$/) as string,
      sms_type: 'mfa',
      phone: PHONE,
    });
    const answer = { challenge_id: asked.body.id, code: sms?.otp };
    expect((await own.post(`/factors/${id}/verify`, answer)).status).toBe(200);
  });

  test('of a new number with the user who wants it', async () => {
    await start();
    const session = await signedUp();
    emulator.questions.length = 0;
    await subject.send('PUT', '/user', JSON.stringify({ phone: PHONE }), bearer(session));
    await subject.mails();
    expect(emulator.questions[0]?.body).toMatchObject({
      user: { id: session.body.user?.id, new_phone: PHONE },
      sms: { phone: PHONE },
    });
  });

  test('of no code for a number that a tester has', async () => {
    await start({ AUTHSVC_SMS_TEST_OTP: `${PHONE}:123456` });
    await subject.post('/otp', { phone: PHONE });
    await subject.mails();
    expect(emulator.questions).toHaveLength(0);
  });

  test('of no code that was replaced before', async () => {
    await start();
    await subject.post('/otp', { phone: PHONE });
    await subject.post('/otp', { phone: PHONE });
    await subject.mails();
    expect(emulator.questions).toHaveLength(1);
  });
});

test('mails go on as before where only messages have a hook', async () => {
  subject = await startSubject(emulator.settings('SEND_SMS'));
  expect((await confirmedUser(subject)).status).toBe(200);
  expect(emulator.questions).toHaveLength(0);
});
