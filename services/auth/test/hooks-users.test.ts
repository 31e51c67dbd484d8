import { accessTokens } from '@croft/access-token';
import { fixedClock } from '@croft/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  confirmedUser,
  JWT_SECRET,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { type HookEmulator, hookEmulator } from './support/hook-emulator.ts';

// The hooks around the making of users: before_user_created may forbid it, after_user_created hears of it.

let emulator: HookEmulator;
let subject: Subject;
beforeEach(async () => {
  emulator = await hookEmulator(() => fixedClock().now());
});
afterEach(async () => {
  await subject[Symbol.asyncDispose]();
  await emulator[Symbol.asyncDispose]();
});

const OPEN = {
  AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
  AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTHSVC_SMS_MAX_FREQUENCY: '0',
  AUTHSVC_SMTP_MAX_FREQUENCY: '0',
};
const ADMIN = {
  authorization: `Bearer ${accessTokens(JWT_SECRET, () => fixedClock().now().getTime()).sign({
    role: 'service_role',
    exp: Math.floor(fixedClock().now().getTime() / 1000) + 60,
  })}`,
};

/** Every way in that makes a user, with nobody there before. */
const ways: [string, () => Promise<Answer>, Record<string, unknown>][] = [
  [
    'sign-up with an address',
    () => subject.post('/signup', { email: 'ada@example.com', password: PASSWORD, data: { a: 1 } }),
    {
      email: 'ada@example.com',
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { a: 1, email: 'ada@example.com' },
    },
  ],
  [
    'sign-up with a number',
    () => subject.post('/signup', { phone: '14155552671', password: PASSWORD }),
    { email: '', phone: '14155552671' },
  ],
  ['anonymous sign-up', () => subject.post('/signup', { data: { b: 2 } }), { is_anonymous: true }],
  ['a code by mail', () => subject.post('/otp', { email: 'ada@example.com' }), { email: 'ada@example.com' }],
  ['a code by SMS', () => subject.post('/otp', { phone: '14155552671' }), { phone: '14155552671' }],
  [
    'a magic link',
    () => subject.post('/magiclink', { email: 'ada@example.com' }),
    { email: 'ada@example.com' },
  ],
  [
    'an invitation',
    () => subject.post('/invite', { email: 'ada@example.com' }, ADMIN),
    { email: 'ada@example.com' },
  ],
  [
    'a link an administrator makes',
    () => subject.post('/admin/generate_link', { type: 'magiclink', email: 'ada@example.com' }, ADMIN),
    { email: 'ada@example.com' },
  ],
];
const creation = async (): Promise<Answer> =>
  await subject.post('/admin/users', { email: 'ada@example.com', email_confirm: true }, ADMIN);

const modes = [
  ['with confirmation', {}],
  ['with autoconfirm', { AUTHSVC_MAILER_AUTOCONFIRM: 'true', AUTHSVC_SMS_AUTOCONFIRM: 'true' }],
] as const;

describe.each(modes)('before_user_created %s', (_mode, settings) => {
  beforeEach(async () => {
    subject = await startSubject({ ...emulator.settings('BEFORE_USER_CREATED'), ...OPEN, ...settings });
  });

  test.each(ways)('is asked about %s, and what it refuses is not made', async (_name, act, user) => {
    const before = await subject.snapshot();
    emulator.answer = { error: { http_code: 403, message: 'Members only' } };
    const refused = await act();
    expect(refused.body).toMatchObject({ code: 403, msg: 'Members only' });
    emulator.answer = (response) => void response.writeHead(500).end();
    expect((await act()).status).toBe(500);
    expect(await subject.snapshot()).toBe(before);
    emulator.answer = {};
    expect((await act()).status).toBe(200);
    expect(emulator.questions).toHaveLength(3);
    expect(emulator.questions.at(-1)?.body).toMatchObject({
      metadata: { name: 'before-user-created' },
      user: { aud: 'authenticated', role: 'authenticated', identities: [], ...user },
    });
    const made = await subject.rows.autocommit().rows<{ id: string }>`select id from :schema.users`;
    const asked = emulator.questions.at(-1)?.body['user'] as { id: string } | undefined;
    expect(made.map(({ id }) => id)).toEqual([asked?.id]);
  });

  test('is not asked when an administrator makes a user, or somebody who is there signs in', async () => {
    expect((await creation()).status).toBe(200);
    for (const path of ['/otp', '/magiclink', '/recover']) {
      expect((await subject.post(path, { email: 'ada@example.com' })).status).toBe(200);
    }
    expect(emulator.questions).toHaveLength(0);
  });
});

test('attack: what before_user_created refuses tells no address apart at sign-up', async () => {
  subject = await startSubject({ ...emulator.settings('BEFORE_USER_CREATED'), ...OPEN });
  const session = await confirmedUser(subject);
  emulator.answer = { error: { http_code: 400, message: 'No such domain' } };
  const before = await subject.snapshot();
  const taken = await subject.post('/signup', { email: session.body.user?.email, password: PASSWORD });
  const free = await subject.post('/signup', { email: someone(), password: PASSWORD });
  expect(taken.body).toEqual(free.body);
  expect(taken.body).toMatchObject({ code: 400, msg: 'No such domain' });
  expect(await subject.snapshot()).toBe(before);
});

describe.each(modes)('after_user_created %s', (_mode, settings) => {
  beforeEach(async () => {
    subject = await startSubject({ ...emulator.settings('AFTER_USER_CREATED'), ...OPEN, ...settings });
  });

  test.each<(typeof ways)[number]>([...ways, ['a user an administrator makes', creation, {}]])(
    'hears of %s once, after it was made',
    async (_name, act) => {
      const answer = await act();
      expect(answer.status).toBe(200);
      expect(emulator.questions).toHaveLength(0);
      await subject.mails();
      expect(emulator.questions).toHaveLength(1);
      const [user] = await subject.rows.autocommit().rows<{ id: string }>`select id from :schema.users`;
      expect(emulator.questions[0]?.body).toMatchObject({
        metadata: { name: 'after-user-created', ip_address: '127.0.0.1', uuid: emulator.questions[0]?.id },
        user: { id: user?.id },
      });
    },
  );

  test('hears nothing of whoever is there already', async () => {
    const session = { email: someone(), password: PASSWORD };
    await subject.post('/signup', session);
    await subject.mails();
    emulator.questions.length = 0;
    await subject.post('/signup', session);
    await subject.post('/otp', { email: session.email });
    await subject.post('/token?grant_type=password', session);
    await subject.mails();
    expect(emulator.questions).toHaveLength(0);
  });
});

describe('after_user_created', () => {
  beforeEach(async () => {
    subject = await startSubject({ ...emulator.settings('AFTER_USER_CREATED'), ...OPEN });
  });
  const waiting = async () =>
    await subject.rows.autocommit().rows<{ attempts: number; parked: boolean }>`
      select attempts, parked_at is not null as parked from :schema.outbox where topic = 'user_created'`;

  test('keeps no request waiting, and hears of it later under the same id when it failed', async () => {
    emulator.answer = (response) => void response.writeHead(500).end();
    const email = someone();
    expect((await subject.post('/signup', { email, password: PASSWORD })).status).toBe(200);
    const outbox = await subject.outbox();
    await outbox.drain();
    expect(await waiting()).toEqual([{ attempts: 1, parked: false }]);
    emulator.answer = {};
    subject.clock.advance(60_000);
    await outbox.drain();
    expect(await waiting()).toEqual([]);
    expect(emulator.questions).toHaveLength(2);
    expect(emulator.questions[1]?.id).toBe(emulator.questions[0]?.id);
  });

  test('that will not have it is not asked again', async () => {
    emulator.answer = { error: { http_code: 400, message: 'never' } };
    await subject.post('/signup', { email: someone(), password: PASSWORD });
    await (await subject.outbox()).drain();
    expect(await waiting()).toEqual([{ attempts: 1, parked: true }]);
  });

  test('does not hear of a user who is gone by then', async () => {
    await subject.post('/signup', { email: 'gone@example.com', password: PASSWORD });
    await subject.rows.autocommit().run`delete from :schema.users where email = 'gone@example.com'`;
    await subject.mails();
    expect(emulator.questions).toHaveLength(0);
    expect(await waiting()).toEqual([]);
  });
});
