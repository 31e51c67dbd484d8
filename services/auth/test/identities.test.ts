import { describe, expect, test } from 'vitest';
import { bearer, claimsOf, confirmedUser, someone } from './harness.ts';
import { comeBack, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import {
  comeBackUnknown,
  identitiesOf,
  leaveLinking,
  link,
  pkce,
  press,
  unlink,
} from './support/linking-flow.ts';
import { ACCESS_TOKEN, REFRESH_TOKEN } from './support/provider-emulator.ts';

const { emulator, subject, become, userOf } = await externalSubject(
  ['apple', 'github', 'google', 'spotify'],
  {
    AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  },
);
const exchange = (code: string | null, verifier: string) =>
  subject.post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
const lastTraits = async (action: string) =>
  (
    await subject.rows.autocommit().row<{ traits: object }>`
    select payload -> 'traits' as traits from :schema.audit_log_entries where payload ->> 'action' = ${action}
    order by age(xmin), ctid desc limit 1`
  )?.traits;

describe('linking', () => {
  test('in one browser: the identity is another way into the account', async () => {
    const user = await confirmedUser(subject);
    become(someone('at-github'));
    const before = (await subject.audit()).length;
    const left = await leaveLinking(subject, user, 'github', {
      redirect_to: 'https://site.example/settings',
    });
    expect(left.setCookie).toMatch(/^__Host-croft-auth-flow-/);
    const back = await comeBack(subject, emulator.agree(left.location), left.cookie);
    expect(back.location).toMatch(/^https:\/\/site\.example\/settings#access_token=/);
    expect(back.fragment.get('provider_token')).toBe(ACCESS_TOKEN);
    expect(await userOf(back)).toMatchObject({
      id: user.body.user?.id,
      email: user.body.user?.email,
      app_metadata: { provider: 'email', providers: ['email', 'github'] },
    });
    expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email', 'github']);
    expect((await subject.audit()).slice(before)).toEqual(['identity_linked', 'login']);
    const { github } = await identitiesOf(subject, user);
    expect(await lastTraits('identity_linked')).toEqual({
      identity_id: github,
      provider: 'github',
      provider_id: emulator.somebody.id,
    });
    const later = await signInWith(subject, emulator, 'github');
    expect((await userOf(later)).id).toBe(user.body.user?.id);
    expect(emulator.complaints).toEqual([]);
  });

  test('with skip_http_redirect the address is in the answer', async () => {
    const user = await confirmedUser(subject);
    const answer = await subject.get(
      '/user/identities/authorize?provider=google&skip_http_redirect=true',
      bearer(user),
    );
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['url']);
    expect(String(answer.body['url'])).toMatch(new RegExp(`^${emulator.baseOf('google')}/`));
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('by a script on another site, whose browser kept no cookie: with a challenge the verifier links', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    const { verifier, challenge } = pkce();
    const left = await leaveLinking(subject, user, 'google', challenge);
    const back = await comeBack(subject, emulator.agree(left.location), '');
    expect(back.status).toBe(302);
    expect([...back.query.keys()]).toEqual(['code']);
    expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email']);
    const session = await exchange(back.query.get('code'), verifier);
    expect(session.status).toBe(200);
    expect(session.body).toMatchObject({
      user: { id: user.body.user?.id },
      provider_token: ACCESS_TOKEN,
      provider_refresh_token: REFRESH_TOKEN,
    });
    expect(claimsOf(subject, session).amr).toMatchObject([{ method: 'oauth' }]);
    expect(Object.keys(await identitiesOf(subject, session))).toEqual(['email', 'google']);
    expect((await exchange(back.query.get('code'), verifier)).status).toBe(404);
  });

  test.each(['google', 'apple'] as const)(
    'without a challenge the person is asked before: %s',
    async (provider) => {
      const user = await confirmedUser(subject);
      become(someone());
      const left = await leaveLinking(subject, user, provider, { redirect_to: 'https://site.example/after' });
      const asked = await comeBackUnknown(subject, emulator.agree(left.location));
      expect(asked.html).toContain(`Your account at ${provider} `);
      expect(asked.html).toContain(String(user.body.user?.email));
      expect(asked.policy).toBe(
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(asked.setCookie).toMatch(
        /^__Host-croft-auth-flow-[0-9a-f]{16}-link=[\w-]{22}; Path=\/; Max-Age=300; HttpOnly; SameSite=Strict; Secure$/,
      );
      expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email']);
      const back = await press(subject, asked.fields, asked.cookie);
      expect(back.location).toMatch(/^https:\/\/site\.example\/after#access_token=/);
      // Those of one moment are in the order of their providers.
      expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email', provider].sort());
    },
  );

  test('an anonymous user becomes a person, with the address the provider verified', async () => {
    const anonymous = await subject.post('/signup', {});
    const email = someone();
    become(email);
    const back = await link(subject, emulator, anonymous, 'google');
    expect(await userOf(back)).toMatchObject({
      id: anonymous.body.user?.id,
      email,
      email_confirmed_at: expect.any(String),
      is_anonymous: false,
      app_metadata: { provider: 'google', providers: ['google'] },
    });
  });

  test('an address nobody vouches for does not become the account’s', async () => {
    const anonymous = await subject.post('/signup', {});
    become(someone(), false);
    const back = await link(subject, emulator, anonymous, 'spotify');
    expect(await userOf(back)).toMatchObject({ id: anonymous.body.user?.id, email: '', is_anonymous: false });
    expect(await subject.mails()).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ to: emulator.somebody.email })]),
    );
  });

  test('takes three round trips in one browser, and two for the code and its exchange each', async () => {
    const user = await confirmedUser(subject);
    await subject.mails();
    await (await subject.outbox()).close();
    become(someone());
    const left = await leaveLinking(subject, user, 'github');
    const back = emulator.agree(left.location);
    expect(await subject.countRoundTrips(() => comeBack(subject, back, left.cookie))).toBe(3);
    become(someone());
    const { verifier, challenge } = pkce();
    const other = await leaveLinking(subject, user, 'google', challenge);
    const waiting = await comeBack(subject, emulator.agree(other.location), '');
    expect(await subject.countRoundTrips(() => exchange(waiting.query.get('code'), verifier))).toBe(2);
    expect(await subject.countRoundTrips(() => leaveLinking(subject, user, 'github'))).toBe(2);
    const { google = '' } = await identitiesOf(subject, user);
    expect(await subject.countRoundTrips(() => unlink(subject, user, google))).toBe(2);
  });
});
