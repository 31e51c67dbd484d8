import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdministrator } from '../src/index.ts';
import {
  type Answer,
  bearer,
  codeIn,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { serviceRole, signIn } from './support/administrators.ts';
import { lastCode } from './support/captured-sms.ts';
import { newestTo } from './support/mailbox.ts';

// Accounts that administrators make for somebody, and what a stranger who knows the address can do to them.

let subject: Subject;
let autoconfirming: Subject;
beforeAll(async () => {
  subject = await startSubject();
  autoconfirming = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SMS_AUTOCONFIRM: 'true',
  });
});
afterAll(async () => {
  await subject[Symbol.asyncDispose]();
  await autoconfirming[Symbol.asyncDispose]();
});

const lastMailTo = async (email: string) =>
  (await subject.mails()).findLast(({ headers }) => headers.get('to')?.includes(email));

describe('under autoconfirm', () => {
  test.each([
    ['made', '/admin/users', (email: string) => ({ email, role: 'service_role' })],
    ['invited', '/invite', (email: string) => ({ email })],
  ])('nobody signs in to an account that was %s without proving the address', async (_, path, body) => {
    const email = someone('given');
    const made = await autoconfirming.post(path, body(email), serviceRole(autoconfirming));
    expect(made.status).toBe(200);
    const answer = await autoconfirming.post('/signup', { email, password: 'the stranger’s' });
    expect(answer.body).toMatchObject({ error_code: 'user_already_exists' });
    expect((await signIn(autoconfirming, email, 'the stranger’s')).status).toBe(400);
  });
});

describe('with confirmation', () => {
  test('a stranger’s sign-up gives an invited account neither a password nor data', async () => {
    const email = someone('invited');
    await subject.post('/invite', { email, data: { team: 'ours' } }, serviceRole(subject));
    await subject.post('/signup', { email, password: 'the stranger’s', data: { team: 'theirs' } });
    const mail = await lastMailTo(email);
    const session = await subject.post('/verify', { type: 'signup', token_hash: readMail(mail).token });
    expect(session.body.user).toMatchObject({ user_metadata: { team: 'ours' } });
    expect((await signIn(subject, email, 'the stranger’s')).status).toBe(400);
  });

  test.each([
    ['/signup', { password: 'the stranger’s', data: { team: 'theirs' } }],
    ['/magiclink', { data: { team: 'theirs' } }],
    ['/recover', {}],
  ])('what an administrator gave survives %s and its code', async (path, body) => {
    const email = someone('given');
    const given = { email, password: PASSWORD, user_metadata: { team: 'ours' } };
    await subject.post('/admin/users', given, serviceRole(subject));
    expect((await subject.post(path, { email, ...body })).status).toBe(200);
    const mail = await lastMailTo(email);
    const type = path === '/recover' ? 'recovery' : 'email';
    const brought = { password: 'the reader’s' };
    const session = await subject.post('/verify', { type, email, token: codeIn(mail), ...brought });
    expect(session.body.user).toMatchObject({ user_metadata: { team: 'ours' } });
    expect((await signIn(subject, email, PASSWORD)).status).toBe(200);
    expect((await signIn(subject, email, 'the reader’s')).status).toBe(400);
    expect((await signIn(subject, email, 'the stranger’s')).status).toBe(400);
  });

  test.each([
    [
      'made',
      (email: string) => subject.post('/admin/users', { email, password: PASSWORD }, serviceRole(subject)),
    ],
    ['invited', (email: string) => subject.post('/invite', { email }, serviceRole(subject))],
  ])('a change that was begun in an account that was %s goes with its codes', async (how, make) => {
    const email = someone('given');
    const { body } = await make(email);
    // A wish whose code is gone would be sent again, by whoever asks for that.
    await subject.rows.autocommit().run`
      update :schema.users set email_change = 'evil@example.com', email_change_begun_at = ${subject.clock.now()},
        phone_change = '14155550199' where email = ${email}`;
    subject.clock.advance(61_000);
    const invited = await subject.post('/invite', { email }, serviceRole(subject));
    for (const wish of ['new_email', 'new_phone']) expect(invited.body).not.toHaveProperty(wish);
    expect(invited.body.id).toBe(body.id);
    subject.clock.advance(61_000);
    const before = await subject.snapshot();
    expect((await subject.post('/resend', { type: 'email_change', email })).status).toBe(200);
    expect(await subject.snapshot()).toBe(before);
    const session = await signIn(subject, email, PASSWORD);
    expect(session.body).toMatchObject({
      error_code: how === 'made' ? 'email_not_confirmed' : 'invalid_credentials',
    });
  });

  test('who becomes the administrator shares the account with nobody', async () => {
    const email = someone('operator');
    const fields = { email, phone: '14155550123', password: 'the holder’s' };
    await subject.post(
      '/admin/users',
      { ...fields, email_confirm: true, phone_confirm: true },
      serviceRole(subject),
    );
    await subject.rows.autocommit().run`
      update :schema.users set email_change = 'evil@example.com' where email = ${email}`;
    const { settings, log } = subject.context;
    const secrets = { atRestKey: subject.context.settings.JWT_SECRET };
    await createAdministrator({
      settings,
      log,
      secrets,
      databaseUrl: subject.databaseUrl,
      email,
      password: PASSWORD,
    });
    const user = await subject.rows.autocommit().row`
      select role, phone, email_change, array(select provider from :schema.identities i where i.user_id = u.id) as ways
      from :schema.users u where email = ${email}`;
    expect(user).toEqual({ role: 'service_role', phone: null, email_change: null, ways: ['email'] });
    expect((await signIn(subject, email, 'the holder’s')).status).toBe(400);
    expect(await subject.audit()).toContain('user_modified');
  });
});

/** Accounts with a number their owner has proven, and an address that an administrator put beside it. */
const reachable: readonly [string, (on: Subject, email: string, phone: string) => Promise<Answer>][] = [
  [
    'made with both',
    async (on, email, phone) => {
      const user = { email, phone, phone_confirm: true, password: PASSWORD };
      await on.post('/admin/users', user, serviceRole(on));
      return await on.post('/token?grant_type=password', { phone, password: PASSWORD });
    },
  ],
  [
    'given the address later',
    async (on, email, phone) => {
      await on.post('/signup', { phone, password: PASSWORD });
      const session = await on.post('/verify', { type: 'sms', phone, token: await lastCode(on, phone) });
      const change = JSON.stringify({ email });
      await on.send('PUT', `/admin/users/${session.body.user?.id}`, change, serviceRole(on));
      return session;
    },
  ],
];

/** How the address is proven, and what the code is called then. */
const proofs: readonly [string, (on: Subject, email: string) => Promise<Answer>, string][] = [
  ['a recovery', (on, email) => on.post('/recover', { email }), 'recovery'],
  ['a magic link', (on, email) => on.post('/otp', { email }), 'email'],
  ['an invitation', (on, email) => on.post('/invite', { email }, serviceRole(on)), 'invite'],
];

describe('a number that somebody proved in an account an administrator gave the address', () => {
  test.each(
    reachable.flatMap(([what, make]) => proofs.map(([way, send, type]) => ({ what, make, way, send, type }))),
  )('$what: stays with all that is its owner’s, when the address is proven by $way', async (row) => {
    await using phones = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
    const [email, phone] = [someone('given'), '14155550188'];
    const session = await row.make(phones, email, phone);
    expect(session.status).toBe(200);
    phones.clock.advance(61_000);
    expect((await row.send(phones, email)).status).toBe(200);
    const { token } = await newestTo(phones, email);
    const proof = await phones.post('/verify', { type: row.type, token_hash: token });
    expect(proof.body.user).toMatchObject({ id: session.body.user?.id, email, phone });
    expect(proof.body.user?.['email_confirmed_at']).toBeDefined();
    expect((await phones.get('/user', bearer(session))).status).toBe(200);
    const again = await phones.post('/token?grant_type=password', { phone, password: PASSWORD });
    expect(again.body.user).toMatchObject({ id: session.body.user?.id });
  });

  test('a sign-up with the address is answered as for any account that is there, and changes nothing', async () => {
    await using phones = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
    for (const [index, [what, make]] of reachable.entries()) {
      const [email, phone] = [someone('given'), `1415555019${index}`];
      const session = await make(phones, email, phone);
      const user = () => phones.rows.autocommit().row`
        select to_jsonb(u) as u, (select count(*) from :schema.one_time_tokens) as codes from :schema.users u where email = ${email}`;
      const before = await user();
      expect((await phones.post('/signup', { email, password: 'the stranger’s' })).status, what).toBe(200);
      expect(await phones.mails()).toEqual([]);
      expect(await user()).toEqual(before);
      expect((await phones.get('/user', bearer(session))).status).toBe(200);
    }
  });
});
