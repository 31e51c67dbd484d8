import { describe, expect, test } from 'vitest';
import { type Answer, bearer, confirmedUser, PASSWORD, readMail, someone } from './harness.ts';
import { comeBack, leave, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { identitiesOf, link, pkce, unlink } from './support/linking-flow.ts';

const { emulator, subject, become, userOf } = await externalSubject(
  ['apple', 'github', 'google', 'spotify'],
  {
    AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  },
);
const exchange = (code: string | null, verifier: string) =>
  subject.post('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
const rowOf = (session: Answer) =>
  subject.rows.autocommit().row<Record<string, unknown>>`
    select email, phone, encrypted_password is not null as "hasPassword", email_confirmed_at is not null as confirmed,
      raw_app_meta_data as app from :schema.users where id = ${session.body.user?.id ?? ''}::uuid`;
const lastTraits = async (action: string) =>
  (
    await subject.rows.autocommit().row<{ traits: object }>`
    select payload -> 'traits' as traits from :schema.audit_log_entries where payload ->> 'action' = ${action}
    order by age(xmin), ctid desc limit 1`
  )?.traits;
const signIn = (email: string | undefined) =>
  subject.post('/token?grant_type=password', { email, password: PASSWORD });

describe('unlinking', () => {
  test('leaves the other ways in, and says what went', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const { github = '' } = await identitiesOf(subject, user);
    const before = (await subject.audit()).length;
    const answer = await unlink(subject, user, github);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(Object.keys(await identitiesOf(subject, user))).toEqual(['email']);
    expect((await subject.audit()).slice(before)).toEqual(['identity_unlinked']);
    expect(await lastTraits('identity_unlinked')).toEqual({
      identity_id: github,
      provider: 'github',
      provider_id: emulator.somebody.id,
    });
    expect(await rowOf(user)).toMatchObject({
      email: user.body.user?.email,
      hasPassword: true,
      app: { provider: 'email', providers: ['email'] },
    });
    expect((await signIn(user.body.user?.email)).status).toBe(200);
    const again = await signInWith(subject, emulator, 'github');
    expect((await userOf(again)).id).not.toBe(user.body.user?.id);
  });

  test('the address stays as long as another identity has it; the password goes with the last that it opens', async () => {
    const user = await confirmedUser(subject);
    become(user.body.user?.email ?? '');
    await link(subject, emulator, user, 'google');
    const { email = '' } = await identitiesOf(subject, user);
    expect((await unlink(subject, user, email)).status).toBe(200);
    expect(await rowOf(user)).toMatchObject({
      email: user.body.user?.email,
      confirmed: true,
      hasPassword: false,
      app: { provider: 'google', providers: ['google'] },
    });
    expect((await signIn(user.body.user?.email)).status).toBe(400);
    expect((await userOf(await signInWith(subject, emulator, 'google'))).id).toBe(user.body.user?.id);
  });

  test('without the address the account has the one another identity proved', async () => {
    const user = await confirmedUser(subject);
    const other = someone('other');
    become(other);
    await link(subject, emulator, user, 'google');
    await subject.post('/recover', { email: user.body.user?.email });
    const mail = (await subject.mails()).findLast(
      ({ headers }) => headers.get('to') === user.body.user?.email,
    );
    const { email = '' } = await identitiesOf(subject, user);
    expect((await unlink(subject, user, email)).status).toBe(200);
    expect(await rowOf(user)).toMatchObject({ email: other, confirmed: true, hasPassword: false });
    expect((await subject.get('/user', bearer(user))).body).toMatchObject({
      email: other,
      user_metadata: { email: other, email_verified: true },
    });
    // What was sent to the former address proves nothing any more.
    const token_hash = readMail(mail).token;
    expect((await subject.post('/verify', { type: 'recovery', token_hash })).status).toBe(403);
  });

  test('and none when nobody vouched for another', async () => {
    const user = await confirmedUser(subject);
    become(someone(), false);
    await link(subject, emulator, user, 'spotify');
    const { email = '' } = await identitiesOf(subject, user);
    expect((await unlink(subject, user, email)).status).toBe(200);
    expect(await rowOf(user)).toMatchObject({ email: null, confirmed: false });
    expect((await subject.get('/user', bearer(user))).status).toBe(200);
    expect((await userOf(await signInWith(subject, emulator, 'spotify'))).id).toBe(user.body.user?.id);
  });

  test('the number goes with the identity of the phone', async () => {
    const user = await confirmedUser(subject);
    await subject.rows.autocommit().run`
      with phone as (
        insert into :schema.identities (provider_id, user_id, identity_data, provider, created_at, updated_at)
        select id::text, id, '{"phone": "4915112345678", "phone_verified": true}', 'phone', now(), now()
        from :schema.users where id = ${user.body.user?.id ?? ''}::uuid returning user_id)
      update :schema.users set phone = '4915112345678', phone_confirmed_at = now()
      where id in (select user_id from phone)`;
    const { phone = '' } = await identitiesOf(subject, user);
    expect((await unlink(subject, user, phone)).status).toBe(200);
    expect(await rowOf(user)).toMatchObject({ phone: null, email: user.body.user?.email, hasPassword: true });
  });

  test('a sign-in that waits for its verifier is not finished', async () => {
    const user = await confirmedUser(subject);
    become(someone());
    await link(subject, emulator, user, 'github');
    const { verifier, challenge } = pkce();
    const left = await leave(subject, 'github', challenge);
    const back = await comeBack(subject, emulator.agree(left.location), left.cookie);
    const { github = '' } = await identitiesOf(subject, user);
    expect((await unlink(subject, user, github)).status).toBe(200);
    expect((await exchange(back.query.get('code'), verifier)).status).toBe(404);
  });
});
