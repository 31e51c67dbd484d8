import { describe, expect, test } from 'vitest';
import type { ProviderId } from '../src/rules/external/provider-ids.ts';
import { confirmedUser, PASSWORD, readMail, type Subject, someone, startSubject } from './harness.ts';
import { comeBack, isRefused, lastAuditOf, leave, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { json } from './support/provider-emulator.ts';

const USED: ProviderId[] = ['bitbucket', 'github', 'google', 'keycloak', 'snapchat', 'spotify', 'twitter'];

const { emulator, subject, become, userOf } = await externalSubject(USED);

const signIn = (email: string, password = PASSWORD) =>
  subject.post('/token?grant_type=password', { email, password });
const lastAudit = (count: number, on: Subject = subject) => lastAuditOf(on, count);

describe('account linking', () => {
  test('a verified address leads to the account that has it', async () => {
    const email = someone();
    const own = await confirmedUser(subject, email);
    subject.clock.advance(1000);
    become(email.toUpperCase());
    const user = await userOf(await signInWith(subject, emulator, 'google'));
    expect(user).toMatchObject({
      id: own.body.user?.id,
      app_metadata: { provider: 'email', providers: ['email', 'google'] },
      user_metadata: { name: 'Ada Lovelace', email, email_verified: true },
      identities: [{ provider: 'email' }, { provider: 'google', id: emulator.somebody.id, email }],
    });
    expect(await lastAudit(2)).toEqual([
      { action: 'identity_linked', traits: { provider: 'google' } },
      { action: 'login', traits: { provider: 'google' } },
    ]);
    expect((await signIn(email)).status).toBe(200);
    subject.clock.advance(1000);
    const github = await userOf(await signInWith(subject, emulator, 'github'));
    expect(github['app_metadata']).toEqual({ provider: 'email', providers: ['email', 'google', 'github'] });
  });

  test('an address that another identity proved leads to its account', async () => {
    const [first, second] = [someone(), someone()];
    become(first);
    const own = await userOf(await signInWith(subject, emulator, 'google'));
    become(second);
    emulator.instead.set(
      'bitbucket/2.0/user/emails',
      json({
        values: [first, second].map((email) => ({ email, is_primary: email === second, is_confirmed: true })),
      }),
    );
    const linked = await userOf(await signInWith(subject, emulator, 'bitbucket'));
    expect([linked.id, linked['email']]).toEqual([own.id, first]);
    become(second);
    const third = await userOf(await signInWith(subject, emulator, 'github'));
    expect(third.id).toBe(own.id);
  });

  test('two accounts with addresses of one person are refused', async () => {
    const [one, two] = [someone(), someone()];
    await confirmedUser(subject, one);
    await confirmedUser(subject, two);
    become(one);
    const values = [one, two].map((email) => ({ email, is_primary: email === one, is_confirmed: true }));
    emulator.instead.set('bitbucket/2.0/user/emails', json({ values }));
    const before = await subject.snapshot();
    isRefused(
      await signInWith(subject, emulator, 'bitbucket'),
      'server_error',
      'unexpected_failure',
      'Multiple accounts with the same email address in the same linking domain detected: default',
    );
    expect(await subject.snapshot()).toBe(before);
  });

  test('step 6: an unconfirmed account loses the password and the metadata a stranger gave it', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD, data: { full_name: 'Mallory', admin: true } });
    const code = readMail(
      (await subject.mails()).findLast(({ headers }) => headers.get('to')?.includes(email)),
    );
    become(email);
    const user = await userOf(await signInWith(subject, emulator, 'google'));
    expect(user).toMatchObject({
      email,
      app_metadata: { provider: 'google', providers: ['google'] },
      identities: [{ provider: 'google' }],
    });
    expect(user['email_confirmed_at']).toBeDefined();
    expect(user['user_metadata']).not.toHaveProperty('admin');
    expect(user['user_metadata']).toMatchObject({ full_name: 'Ada Lovelace', email_verified: true });
    expect(await lastAudit(2)).toEqual([
      { action: 'identity_linked', traits: { provider: 'google' } },
      { action: 'user_signedup', traits: { provider: 'google' } },
    ]);
    expect((await signIn(email)).body).toMatchObject({ error_code: 'invalid_credentials' });
    // The mail the stranger had sent brings the password back no more.
    const late = await subject.post('/verify', { type: 'signup', token_hash: code.token });
    expect(late.body).toMatchObject({ error_code: 'otp_expired' });
    expect((await signIn(email)).body).toMatchObject({ error_code: 'invalid_credentials' });
  });

  test('somebody banned does not get in', async () => {
    const email = someone();
    become(email);
    await signInWith(subject, emulator, 'google');
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where email = ${email}`;
    const before = await subject.snapshot();
    isRefused(
      await signInWith(subject, emulator, 'google'),
      'access_denied',
      'user_banned',
      'User is banned',
    );
    isRefused(
      await signInWith(subject, emulator, 'github'),
      'access_denied',
      'user_banned',
      'User is banned',
    );
    expect(await subject.snapshot()).toBe(before);
  });

  test('DISABLE_SIGNUP keeps new people out, not known ones', async () => {
    await using closed = await startSubject({
      ...emulator.settings('google'),
      AUTHSVC_DISABLE_SIGNUP: 'true',
    });
    become(someone());
    const before = await closed.snapshot();
    isRefused(
      await signInWith(closed, emulator, 'google'),
      'access_denied',
      'signup_disabled',
      'Signups not allowed for this instance',
    );
    expect(await closed.snapshot()).toBe(before);
    const { email } = emulator.somebody;
    await closed.rows.autocommit().run`
      insert into :schema.users (id, aud, role, email, email_confirmed_at, created_at, updated_at)
      values (gen_random_uuid(), 'authenticated', 'authenticated', ${email}, now(), now(), now())`;
    expect((await signInWith(closed, emulator, 'google')).fragment.has('access_token')).toBe(true);
  });

  test('an address nobody vouches for is confirmed by mail first', async () => {
    const email = someone();
    become(email);
    const description =
      'Unverified email with spotify. A confirmation email has been sent to your spotify email';
    const refused = () =>
      signInWith(subject, emulator, 'spotify').then((answer) => {
        isRefused(answer, 'access_denied', 'provider_email_needs_verification', description);
      });
    const mailed = async () =>
      (await subject.mails()).filter(({ headers }) => headers.get('to')?.includes(email));
    await refused();
    expect(await lastAudit(1)).toEqual([
      { action: 'user_confirmation_requested', traits: { provider: 'spotify' } },
    ]);
    expect(await mailed()).toHaveLength(1);
    // Another mail only after the interval, but the same answer.
    await refused();
    expect(await mailed()).toHaveLength(1);
    subject.clock.advance(61_000);
    await refused();
    expect(await mailed()).toHaveLength(2);
    const { token } = readMail((await mailed()).at(-1));
    expect((await subject.post('/verify', { type: 'signup', token_hash: token })).status).toBe(200);
    const user = await userOf(await signInWith(subject, emulator, 'spotify'));
    expect(user).toMatchObject({ email, app_metadata: { provider: 'spotify' } });
  });

  test('an unverified address that somebody has gets the same answer, and nothing happens', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const mails = (await subject.mails()).length;
    become(email);
    const before = await subject.snapshot();
    isRefused(
      await signInWith(subject, emulator, 'spotify'),
      'access_denied',
      'provider_email_needs_verification',
      'Unverified email with spotify. A confirmation email has been sent to your spotify email',
    );
    expect(await subject.snapshot()).toBe(before);
    expect(await subject.mails()).toHaveLength(mails);
  });

  test('the mails of an hour count for addresses somebody has as for all others', async () => {
    await using limited = await startSubject({
      ...emulator.settings('spotify'),
      AUTHSVC_RATE_LIMIT_ENABLED: 'true',
      AUTHSVC_RATE_LIMIT_EMAIL_SENT: '2',
    });
    const taken = someone();
    await confirmedUser(limited, taken);
    limited.clock.advance(61_000);
    const codes = [];
    for (const email of [taken, someone(), someone()]) {
      become(email);
      codes.push((await signInWith(limited, emulator, 'spotify')).query.get('error_code'));
    }
    expect(codes).toEqual([
      'provider_email_needs_verification',
      'over_email_send_rate_limit',
      'over_email_send_rate_limit',
    ]);
    expect(await limited.mails()).toHaveLength(1);
  });

  test('under autoconfirm a new address counts, but opens no account that is there', async () => {
    await using auto = await startSubject({
      ...emulator.settings('spotify'),
      AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    });
    const [free, taken] = [someone(), someone()];
    await auto.post('/signup', { email: taken, password: PASSWORD });
    become(free);
    const user = await userOf(await signInWith(auto, emulator, 'spotify'), auto);
    expect([user['email'], 'email_confirmed_at' in user]).toEqual([free, true]);
    become(taken);
    const other = await userOf(await signInWith(auto, emulator, 'spotify'), auto);
    expect(other).toMatchObject({ email: '', identities: [{ provider: 'spotify', email: taken }] });
    const again = await userOf(await signInWith(auto, emulator, 'spotify'), auto);
    expect(again.id).toBe(other.id);
  });

  test('EMAIL_OPTIONAL lets people in without an address', async () => {
    await using lenient = await startSubject({
      ...emulator.settings('snapchat'),
      AUTHSVC_EXTERNAL_SNAPCHAT_EMAIL_OPTIONAL: 'true',
    });
    become(someone());
    const first = await userOf(await signInWith(lenient, emulator, 'snapchat'), lenient);
    const again = await userOf(await signInWith(lenient, emulator, 'snapchat'), lenient);
    expect([first['email'], again.id]).toEqual(['', first.id]);
  });

  test('8 browsers of somebody new at the same moment make one account', async () => {
    become(someone());
    const left = await Promise.all(Array.from({ length: 8 }, () => leave(subject, 'google')));
    const answers = await Promise.all(
      left.map((one) => comeBack(subject, emulator.agree(one.location), one.cookie)),
    );
    expect(answers.map(({ fragment }) => fragment.has('access_token'))).toEqual(left.map(() => true));
    const ids = await Promise.all(answers.map(async (answer) => (await userOf(answer)).id));
    expect(new Set(ids).size).toBe(1);
  });
});
