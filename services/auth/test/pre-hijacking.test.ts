import { silentLog } from '@croft/runtime';
import { afterAll, describe, expect, test } from 'vitest';
import { type Answer, type AnswerBody, bearer, PASSWORD, someone, startSubject } from './harness.ts';
import { serviceRole, signIn } from './support/administrators.ts';
import { lastCode } from './support/captured-sms.ts';
import { signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { link } from './support/linking-flow.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';
import { meet } from './support/meeting.ts';
import { verified as answered, enrolled } from './support/second-factors.ts';

// A stranger signs in with an address nobody vouches for, and leaves something behind for the owner of the address.

const { emulator, subject, become } = await externalSubject(['bitbucket', 'google', 'spotify'], {
  AUTHSVC_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
  AUTHSVC_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
  AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
  AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
});

/** The same service once its addresses need no confirmation any more. */
const autoconfirming = await startSubject(
  { AUTHSVC_MAILER_AUTOCONFIRM: 'true' },
  silentLog,
  subject.databaseUrl,
);
afterAll(() => autoconfirming[Symbol.asyncDispose]());

const MINUTE_MS = 61_000;

async function verified(email: string, type: string): Promise<AnswerBody> {
  const answer = await subject.post('/verify', { type, token_hash: (await newestTo(subject, email)).token });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.user ?? {};
}

/** How the owner of an address comes to the account. */
const ways: readonly [string, (email: string) => Promise<AnswerBody>][] = [
  [
    'a provider that vouches for the address',
    async (email) => {
      become(email);
      const { fragment } = await signInWith(subject, emulator, 'google');
      const answer = await subject.get('/user', { authorization: `Bearer ${fragment.get('access_token')}` });
      return answer.body;
    },
  ],
  [
    'a sign-up',
    async (email) => {
      await subject.post('/signup', { email, password: PASSWORD });
      return await verified(email, 'signup');
    },
  ],
  [
    'a sign-up that needs no confirmation',
    async (email) => {
      const data = { full_name: 'Victor' };
      const { body } = await autoconfirming.post('/signup', { email, password: PASSWORD, data });
      expect(body.user?.['user_metadata']).toMatchObject(data);
      return body.user ?? {};
    },
  ],
  [
    'a recovery',
    async (email) => {
      await subject.post('/recover', { email });
      return await verified(email, 'recovery');
    },
  ],
  [
    'a magic link',
    async (email) => {
      await subject.post('/otp', { email });
      return await verified(email, 'email');
    },
  ],
  [
    'an invitation',
    async (email) => {
      await subject.post('/invite', { email }, serviceRole(subject));
      return await verified(email, 'invite');
    },
  ],
];

describe('attack: a change of address that was begun before the owner of the account came', () => {
  test.each(ways)('by %s: nothing is left of it, and it is never sent again', async (_name, come) => {
    const [victim, evil] = [someone('victim'), someone('evil')];
    become(victim, false);
    const { fragment } = await signInWith(subject, emulator, 'spotify');
    const stranger = { authorization: `Bearer ${fragment.get('access_token')}` };
    const wanted = JSON.stringify({ email: evil, phone: '14155550177' });
    expect((await subject.send('PUT', '/user', wanted, stranger)).body).toMatchObject({ new_email: evil });
    const { token } = await newestTo(subject, evil);
    subject.clock.advance(MINUTE_MS);

    const owner = await come(victim);
    expect(owner).toMatchObject({ email: victim });
    expect(owner).not.toHaveProperty('new_email');
    expect(owner).not.toHaveProperty('new_phone');
    // Whoever had looked a code up in the moment before would still come in with it.
    const codes = await subject.rows.autocommit().rows`
      select token_type from :schema.one_time_tokens where user_id = ${String(owner.id)}`;
    expect(codes).toEqual([]);
    subject.clock.advance(MINUTE_MS);
    const before = await subject.snapshot();
    expect((await subject.post('/verify', { type: 'email_change', token_hash: token })).status).toBe(403);
    expect((await subject.post('/resend', { type: 'email_change', email: victim })).status).toBe(200);
    expect(await mailsTo(subject, evil)).toHaveLength(1);
    expect(await subject.snapshot()).toBe(before);
  });

  test('by an invitation that was not accepted yet: its code is worth nothing either', async () => {
    const [victim, evil] = [someone('victim'), someone('evil')];
    become(victim, false);
    const { fragment } = await signInWith(subject, emulator, 'spotify');
    const stranger = { authorization: `Bearer ${fragment.get('access_token')}` };
    await subject.send('PUT', '/user', JSON.stringify({ email: evil }), stranger);
    const { token } = await newestTo(subject, evil);
    const invitation = await subject.post('/invite', { email: victim }, serviceRole(subject));
    expect(invitation.body).not.toHaveProperty('new_email');
    const before = await subject.snapshot();
    expect((await subject.post('/verify', { type: 'email_change', token_hash: token })).status).toBe(403);
    expect(await subject.snapshot()).toBe(before);
    expect((await verified(victim, 'invite'))['email']).toBe(victim);
  });
});

/** What the stranger's provider vouches for is an address of his own, not that of the account. */
const tricks: readonly [string, (victim: string, own: string) => Promise<void>][] = [
  [
    'linked to it',
    async (victim, own) => {
      become(victim, false);
      const { fragment } = await signInWith(subject, emulator, 'spotify');
      become(own, true, `of ${own}`);
      const session = { body: { access_token: fragment.get('access_token') } } as Answer;
      await link(subject, emulator, session, 'bitbucket');
    },
  ],
  [
    'that has another address by now',
    async (victim, own) => {
      become(victim, false, `of ${own}`);
      await signInWith(subject, emulator, 'bitbucket');
      become(own, true, `of ${own}`);
      await signInWith(subject, emulator, 'bitbucket');
    },
  ],
];

describe('attack: an identity of the stranger whose provider vouches for another address', () => {
  test.each(tricks.flatMap(([trick, leave]) => ways.map(([way, come]) => ({ trick, leave, way, come }))))(
    '$trick, by $way: it is no way in any more',
    async ({ leave, come }) => {
      const [victim, own] = [someone('victim'), someone('mallory')];
      await leave(victim, own);
      const before = await accountsOf('bitbucket', `of ${own}`);
      expect(before).toEqual([victim]);
      subject.clock.advance(MINUTE_MS);

      const owner = await come(victim);
      expect(owner).toMatchObject({ email: victim, app_metadata: { providers: [expect.any(String)] } });
      expect(await accountsOf('bitbucket', `of ${own}`)).toEqual([]);
      become(own, true, `of ${own}`);
      const { fragment } = await signInWith(subject, emulator, 'bitbucket');
      const stranger = await subject.get('/user', {
        authorization: `Bearer ${fragment.get('access_token')}`,
      });
      expect(stranger.body).toMatchObject({ email: own });
      expect(stranger.body.id).not.toBe(owner.id);
    },
  );
});

test('an invitation leaves an identity whose provider vouches for the address, and says so', async () => {
  const [victim, own] = [someone('victim'), someone('mallory')];
  become(victim, false);
  const { fragment } = await signInWith(subject, emulator, 'spotify');
  const session = { body: { access_token: fragment.get('access_token') } } as Answer;
  become(own, true, `of ${own}`);
  await link(subject, emulator, session, 'bitbucket');
  become(victim, true, `of ${victim}`);
  await link(subject, emulator, session, 'google');
  const vouching = { providers: ['email', 'google'] };
  const invited = await subject.post('/invite', { email: victim }, serviceRole(subject));
  expect(invited.body).toMatchObject({ app_metadata: vouching, identities: [{ provider: 'google' }] });
  // What the service says of providers, it says of an account that was invited before as well.
  subject.clock.advance(MINUTE_MS);
  const again = await subject.post('/invite', { email: victim }, serviceRole(subject));
  expect(again.body).toMatchObject({ app_metadata: vouching, identities: [{ provider: 'google' }] });
  expect(await verified(victim, 'invite')).toMatchObject({ app_metadata: vouching });
});

test('attack: an identity that is linked while its account is invited is none of it', async () => {
  const [victim, own] = [someone('victim'), someone('mallory')];
  become(victim, false);
  const { fragment } = await signInWith(subject, emulator, 'spotify');
  const session = { body: { access_token: fragment.get('access_token') } } as Answer;
  const { id } = (await subject.get('/user', bearer(session))).body;
  become(own, true, `of ${own}`);
  const linking = async () => {
    await link(subject, emulator, session, 'bitbucket');
    return await subject.get('/health');
  };
  const invitation = () => subject.post('/invite', { email: victim }, serviceRole(subject));
  const { second: invited } = await meet(subject, String(id), linking, invitation);
  expect([invited.status, invited.body['identities']]).toEqual([200, []]);
  expect(await accountsOf('bitbucket', `of ${own}`)).toEqual([]);
});

describe('attack: wrong codes that a stranger typed', () => {
  const unlockedBy = ways.filter(([name]) => /recovery|provider|invitation/.test(name));
  test.each(unlockedBy)('lock no second factor of an owner who comes by %s', async (_name, come) => {
    const victim = someone('victim');
    become(victim, false);
    const { fragment } = await signInWith(subject, emulator, 'spotify');
    const stranger = { body: { access_token: fragment.get('access_token') } } as Answer;
    const factors = [];
    for (const name of ['one', 'two', 'three']) factors.push(await enrolled(subject, stranger, name));
    for (let guess = 0; guess < 13; guess++) {
      if (guess >= 10) subject.clock.advance(2 * MINUTE_MS);
      const factor = factors[guess % factors.length];
      if (factor === undefined) throw new Error('there are three');
      const { body } = await answered(subject, stranger, factor.id, factor.wrong());
      expect(body).toMatchObject({ error_code: 'mfa_verification_failed' });
    }
    const { id } = await come(victim);
    const account = await subject.rows.autocommit().row`
      select mfa_wrong_codes, mfa_wrong_code_at, mfa_locked_until from :schema.users where id = ${String(id)}`;
    expect(account).toEqual({ mfa_wrong_codes: 0, mfa_wrong_code_at: null, mfa_locked_until: null });
  });
});

test('attack: a sign-up without a proof that meets the invitation of its account gets nothing of it', async () => {
  const victim = someone('victim');
  const { body } = await subject.post('/signup', { email: victim, password: PHONE_PASSWORD });
  const { first: invited, second: stranger } = await meet(
    subject,
    String(body.id),
    () => subject.post('/invite', { email: victim }, serviceRole(subject)),
    () => autoconfirming.post('/signup', { email: victim, password: PHONE_PASSWORD }),
  );
  expect(invited.status).toBe(200);
  expect(stranger.body).toMatchObject({ error_code: 'conflict' });
  const account = await subject.rows.autocommit().row`
    select email_confirmed_at, encrypted_password, (select count(*) from :schema.sessions s where s.user_id = u.id) as sessions
    from :schema.users u where email = ${victim}`;
  expect(account).toEqual({ email_confirmed_at: null, encrypted_password: null, sessions: 0 });
  expect((await signIn(subject, victim, PHONE_PASSWORD)).status).toBe(400);
  expect(await verified(victim, 'invite')).toMatchObject({ id: body.id, email: victim });
});

let numbers = 0;
/** A number nobody has yet. */
function somePhone(): string {
  numbers += 1;
  return `1415555${String(numbers).padStart(4, '0')}`;
}

const PHONE_PASSWORD = 'the stranger’s own';

/** Comes in with the victim's address unproven, and gives the account a number, a password and a factor of his own. */
async function settle(victim: string, phone: string): Promise<{ id: string; sessions: Answer[] }> {
  become(victim, false);
  const { fragment } = await signInWith(subject, emulator, 'spotify');
  const first = {
    body: { access_token: fragment.get('access_token'), refresh_token: fragment.get('refresh_token') },
  } as Answer;
  const wanted = JSON.stringify({ phone, password: PHONE_PASSWORD });
  const changed = await subject.send('PUT', '/user', wanted, bearer(first));
  const second = await subject.post('/verify', {
    type: 'phone_change',
    phone,
    token: await lastCode(subject, phone),
  });
  expect(second.body.user).toMatchObject({ email: victim, phone });
  await enrolled(subject, second);
  subject.clock.advance(MINUTE_MS);
  return { id: String(changed.body.id), sessions: [first, second] };
}

const byPhone = (phone: string, password: string) =>
  subject.post('/token?grant_type=password', { phone, password });

describe('attack: a number of his own that a stranger confirmed in the account of an address nobody did', () => {
  test.each(ways.filter(([name]) => name !== 'a sign-up that needs no confirmation'))(
    'by %s: neither number nor anything else of his is left',
    async (_name, come) => {
      const [victim, phone] = [someone('victim'), somePhone()];
      const { id, sessions } = await settle(victim, phone);
      expect((await byPhone(phone, PHONE_PASSWORD)).status).toBe(200);

      const owner = await come(victim);
      expect(owner).toMatchObject({ id, email: victim, phone: '' });
      for (const trace of ['phone_confirmed_at', 'factors']) expect(owner).not.toHaveProperty(trace);
      expect(owner['app_metadata']).toMatchObject({
        providers: [expect.not.stringMatching(/phone|spotify/)],
      });
      expect(JSON.stringify(owner)).not.toContain(phone);
      expect(await providersOf(id)).not.toContain('phone');
      subject.clock.advance(MINUTE_MS);
      const before = await subject.snapshot();
      for (const session of sessions) {
        expect((await subject.get('/user', bearer(session))).status).toBe(403);
        const { refresh_token } = session.body;
        expect((await subject.post('/token?grant_type=refresh_token', { refresh_token })).status).toBe(400);
      }
      expect((await byPhone(phone, PHONE_PASSWORD)).body).toMatchObject({
        error_code: 'invalid_credentials',
      });
      expect((await signIn(subject, victim, PHONE_PASSWORD)).status).toBe(400);
      expect(await subject.snapshot()).toBe(before);

      // The number is free, and leads to another account.
      await subject.post('/otp', { phone });
      const token = await lastCode(subject, phone);
      const stranger = await subject.post('/verify', { type: 'sms', phone, token });
      expect(stranger.body.user).toMatchObject({ email: '', phone });
      expect(stranger.body.user?.id).not.toBe(id);
    },
  );

  test('whoever signs up with the address without a proof gets nothing of the account', async () => {
    const [victim, phone] = [someone('victim'), somePhone()];
    const { sessions } = await settle(victim, phone);
    const before = await unaudited();
    const answer = await autoconfirming.post('/signup', { email: victim, password: PASSWORD });
    expect(answer.body).toMatchObject({ error_code: 'user_already_exists' });
    expect(await unaudited()).toEqual(before);
    for (const session of sessions) expect((await subject.get('/user', bearer(session))).status).toBe(200);
  });

  test('a sign-up is answered like that of a free address, and changes nothing until it is proven', async () => {
    const [victim, free, phone] = [someone('victim'), someone('victim'), somePhone()];
    const { id, sessions } = await settle(victim, phone);
    const shape = ({ status, body }: Answer) => [
      status,
      Object.entries(body).map(([name, value]) => [name, typeof value]),
    ];
    const fresh = await subject.post('/signup', { email: free, password: PASSWORD });
    const answer = await subject.post('/signup', { email: victim, password: PASSWORD });
    expect(shape(answer)).toEqual(shape(fresh));
    expect(answer.body).not.toHaveProperty('phone_confirmed_at');
    for (const session of sessions) expect((await subject.get('/user', bearer(session))).status).toBe(200);
    expect((await verified(victim, 'signup')).id).toBe(id);
    expect((await signIn(subject, victim, PASSWORD)).status).toBe(200);
  });

  test('nor by an invitation of who had been invited before numbers were forgotten', async () => {
    const [victim, phone] = [someone('victim'), somePhone()];
    const { id, sessions } = await settle(victim, phone);
    await subject.rows.autocommit()
      .run`update :schema.users set invited_at = ${subject.clock.now()} where id = ${id}`;
    const invited = await subject.post('/invite', { email: victim }, serviceRole(subject));
    expect(invited.body).toMatchObject({
      id,
      phone: '',
      app_metadata: { providers: ['email'] },
      identities: [],
    });
    for (const session of sessions) expect((await subject.get('/user', bearer(session))).status).toBe(403);
    expect((await byPhone(phone, PHONE_PASSWORD)).status).toBe(400);
  });

  test('a number beside the address of an account an administrator gave is no stranger’s', async () => {
    const [owner, phone] = [someone('given'), somePhone()];
    const given = { email: owner, phone, phone_confirm: true, password: PASSWORD };
    const { body } = await subject.post('/admin/users', given, serviceRole(subject));
    const session = await byPhone(phone, PASSWORD);
    become(owner);
    await signInWith(subject, emulator, 'google');
    expect((await subject.get('/user', bearer(session))).body).toMatchObject({ id: body.id, phone });
    expect((await byPhone(phone, PASSWORD)).status).toBe(200);
  });

  test('what its owner adds once the address is proven stays, however the owner comes again', async () => {
    const [victim, phone, own] = [someone('victim'), somePhone(), somePhone()];
    await settle(victim, phone);
    await subject.post('/recover', { email: victim });
    const token = (await newestTo(subject, victim)).token;
    const session = await subject.post('/verify', { type: 'recovery', token_hash: token });
    const wanted = JSON.stringify({ phone: own, password: PASSWORD });
    await subject.send('PUT', '/user', wanted, bearer(session));
    await subject.post('/verify', { type: 'phone_change', phone: own, token: await lastCode(subject, own) });
    for (const [way, come] of ways.filter(([name]) => !/sign-up|invitation/.test(name))) {
      subject.clock.advance(MINUTE_MS);
      expect(await come(victim), way).toMatchObject({ email: victim, phone: own });
    }
    expect((await byPhone(own, PASSWORD)).status).toBe(200);
  });
});

test('attack: an address that nobody proved beside a number is gone when the owner of the number comes', async () => {
  const [email, phone] = [someone('evil'), somePhone()];
  await subject.post('/signup', { phone, password: PHONE_PASSWORD });
  const signedUp = await subject.rows.autocommit().row<{ id: string }>`
    select id from :schema.users where phone = ${phone}`;
  const id = String(signedUp?.id);
  await subject.send('PUT', `/admin/users/${id}`, JSON.stringify({ email }), serviceRole(subject));
  subject.clock.advance(MINUTE_MS);
  await subject.post('/otp', { phone });
  const owner = await subject.post('/verify', { type: 'sms', phone, token: await lastCode(subject, phone) });
  expect(owner.body.user).toMatchObject({ id, phone, email: '', app_metadata: { providers: ['phone'] } });
  expect(await providersOf(id)).toEqual(['phone']);
  expect(JSON.stringify(owner.body.user)).not.toContain(email);
  subject.clock.advance(MINUTE_MS);
  const before = await subject.snapshot();
  await subject.post('/recover', { email });
  expect(await mailsTo(subject, email)).toEqual([]);
  expect((await byPhone(phone, PHONE_PASSWORD)).status).toBe(400);
  expect((await signIn(subject, email, PHONE_PASSWORD)).status).toBe(400);
  expect(await subject.snapshot()).toBe(before);
});

/** How the user of an id can come in. */
async function providersOf(userId: string): Promise<string[]> {
  const rows = await subject.rows.autocommit().rows<{ provider: string }>`
    select provider from :schema.identities where user_id = ${userId} order by provider`;
  return rows.map(({ provider }) => provider);
}

const AUDIT = 10;

/** Everything but the audit log, which notes refused sign-ups. */
async function unaudited(): Promise<unknown[]> {
  const { all } = JSON.parse(await subject.snapshot()) as { all: unknown[] };
  return all.toSpliced(AUDIT, 1);
}

/** Addresses of the accounts that somebody of a provider can come into. */
async function accountsOf(provider: string, subjectId: string): Promise<(string | null)[]> {
  const rows = await subject.rows.autocommit().rows<{ email: string | null }>`
    select u.email from :schema.identities i join :schema.users u on u.id = i.user_id
    where i.provider = ${provider} and i.provider_id = ${subjectId}`;
  return rows.map(({ email }) => email);
}
