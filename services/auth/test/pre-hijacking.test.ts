import { silentLog } from '@croft/runtime';
import { afterAll, describe, expect, test } from 'vitest';
import { type Answer, type AnswerBody, bearer, PASSWORD, someone, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';
import { signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { link } from './support/linking-flow.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';
import { meet } from './support/meeting.ts';

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

/** Addresses of the accounts that somebody of a provider can come into. */
async function accountsOf(provider: string, subjectId: string): Promise<(string | null)[]> {
  const rows = await subject.rows.autocommit().rows<{ email: string | null }>`
    select u.email from :schema.identities i join :schema.users u on u.id = i.user_id
    where i.provider = ${provider} and i.provider_id = ${subjectId}`;
  return rows.map(({ email }) => email);
}
