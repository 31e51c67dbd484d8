import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Person } from '../src/rows.ts';
import { prepareSignIn } from '../src/sessions/prepare-sign-in.ts';
import { awaited } from '../src/store/openings.ts';
import {
  type Answer,
  bearer,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { hookEmulator } from './support/hook-emulator.ts';
import { challenged, guarded } from './support/second-factors.ts';
import { messageFor, solanaWallet } from './support/wallets.ts';

// What a request costs is mostly its round trips to the database. These are upper bounds of the design; `begin` and
// `commit` would count.

let subject: Subject;
let autoconfirming: Subject;
beforeAll(async () => {
  subject = await startSubject();
  autoconfirming = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
});
afterAll(async () => {
  await subject[Symbol.asyncDispose]();
  await autoconfirming[Symbol.asyncDispose]();
});

/** The work's round trips; it has to succeed, a refusal would be cheap. */
async function cost(on: Subject, status: number, work: () => Promise<{ status: number }>): Promise<number> {
  let answered = 0;
  const count = await on.countRoundTrips(async () => {
    answered = (await work()).status;
  });
  expect(answered).toBe(status);
  return count;
}

test('sign-up takes two, whether the address is new, waits for its confirmation or is taken', async () => {
  const email = someone();
  const signUp = () => subject.post('/signup', { email, password: PASSWORD });
  expect(await cost(subject, 200, signUp)).toBe(2);
  subject.clock.advance(60_000);
  expect(await cost(subject, 200, signUp)).toBe(2);
  expect(await cost(subject, 429, signUp)).toBe(2);
  await subject.rows.autocommit()
    .run`update :schema.users set email_confirmed_at = created_at where email = ${email}`;
  expect(await cost(subject, 429, signUp)).toBe(2);
  subject.clock.advance(60_000);
  expect(await cost(subject, 200, signUp)).toBe(2);
});

test('attack: nor does their number tell whether somebody has a phone number', async () => {
  await using phones = await startSubject({ AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true' });
  const signUp = () => phones.post('/signup', { phone: '14155550142', password: PASSWORD });
  expect(await cost(phones, 200, signUp)).toBe(2);
  phones.clock.advance(60_000);
  expect(await cost(phones, 200, signUp)).toBe(2);
  expect(await cost(phones, 429, signUp)).toBe(2);
  await phones.rows.autocommit().run`update :schema.users set phone_confirmed_at = created_at`;
  expect(await cost(phones, 429, signUp)).toBe(2);
  phones.clock.advance(60_000);
  expect(await cost(phones, 200, signUp)).toBe(2);
});

test('a recovery takes two, whoever has the address', async () => {
  const [known, unknown] = [someone(), someone()];
  await autoconfirming.post('/signup', { email: known, password: PASSWORD });
  for (const email of [known, unknown]) {
    const recover = () => autoconfirming.post('/recover', { email });
    expect(await cost(autoconfirming, 200, recover)).toBe(2);
    expect(await cost(autoconfirming, 429, recover)).toBe(2);
  }
});

test('a change of the own account takes two, three with a new address; a nonce takes two', async () => {
  const session = await autoconfirming.post('/signup', { email: someone(), password: PASSWORD });
  const put = (body: object) => () =>
    autoconfirming.send('PUT', '/user', JSON.stringify(body), bearer(session));
  expect(await cost(autoconfirming, 200, put({ data: { a: 1 }, password: 'another one' }))).toBe(2);
  expect(
    await cost(autoconfirming, 200, put({ email: someone(), data: { a: 2 }, password: 'a third one' })),
  ).toBe(3);
  expect(await cost(autoconfirming, 200, () => autoconfirming.get('/reauthenticate', bearer(session)))).toBe(
    2,
  );
});

test('sign-up with autoconfirm takes one', async () => {
  const body = { email: someone(), password: PASSWORD };
  expect(await cost(autoconfirming, 200, () => autoconfirming.post('/signup', body))).toBe(1);
});

test('everything after it', async () => {
  // No worker runs on this one before the counting is done: its round trips would count as well.
  const email = someone();
  await autoconfirming.post('/signup', { email, password: PASSWORD });
  const signIn = () => autoconfirming.post('/token?grant_type=password', { email, password: PASSWORD });
  expect(await cost(autoconfirming, 200, signIn)).toBe(2);
  const session = await signIn();
  const refresh = () =>
    autoconfirming.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });
  expect(await cost(autoconfirming, 200, refresh)).toBe(1);
  expect(await cost(autoconfirming, 200, refresh)).toBe(1); // the parent again
  expect(await cost(autoconfirming, 200, () => autoconfirming.get('/user', bearer(session)))).toBe(1);
  expect(
    await cost(autoconfirming, 204, () => autoconfirming.post('/logout', undefined, bearer(session))),
  ).toBe(2);
  expect(await cost(autoconfirming, 200, () => autoconfirming.get('/settings'))).toBe(0);
  expect(await cost(autoconfirming, 200, () => autoconfirming.get('/health'))).toBe(0);
  expect(await cost(autoconfirming, 200, () => autoconfirming.get('/ready'))).toBe(1);
});

test('verification takes two', async () => {
  const [one, two] = [someone(), someone()];
  await subject.post('/signup', { email: one, password: PASSWORD });
  await subject.post('/signup', { email: two, password: PASSWORD });
  const mails = await subject.mails();
  await (await subject.outbox()).close();
  const sent = (email: string) => readMail(mails.find(({ headers }) => headers.get('to') === email));
  const byHash = { type: 'signup', token_hash: sent(one).token };
  expect(await cost(subject, 200, () => subject.post('/verify', byHash))).toBe(2);
  const byCode = { type: 'signup', email: two, token: sent(two).code };
  expect(await cost(subject, 200, () => subject.post('/verify', byCode))).toBe(2);
});

test('the exchange of a code takes two', async () => {
  const session = await autoconfirming.post('/signup', { email: someone(), password: PASSWORD });
  const challenge = { challenge: 'v'.repeat(43), method: 'plain' as const };
  const prepared = prepareSignIn(autoconfirming.context, 'otp', { challenge });
  const person = { user: { id: session.body.user?.id } } as Person;
  const signedIn = await prepared.end(person, autoconfirming.clock.now(), {
    ip: null,
    userAgent: '',
    audience: undefined,
  });
  if (!('authCode' in prepared.row) || !('authCode' in signedIn)) throw new Error('no code');
  await autoconfirming.rows.autocommit().run`
    with person as (select ${person.user.id}::uuid as id), ${awaited(prepared.row.authCode, autoconfirming.clock.now())}
    select from person`;
  const body = { auth_code: signedIn.authCode, code_verifier: challenge.challenge };
  expect(await cost(autoconfirming, 200, () => autoconfirming.post('/token?grant_type=pkce', body))).toBe(2);
});

test('hooks cost none of their own', async () => {
  await using hook = await hookEmulator(() => subject.clock.now());
  hook.answer = (response, { body }) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  await using hooked = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    ...hook.settings('CUSTOM_ACCESS_TOKEN'),
    ...hook.settings('PASSWORD_VERIFICATION_ATTEMPT'),
    ...hook.settings('BEFORE_USER_CREATED'),
    ...hook.settings('AFTER_USER_CREATED'),
  });
  const who = { email: someone(), password: PASSWORD };
  expect(await cost(hooked, 200, () => hooked.post('/signup', who))).toBe(1);
  const signIn = () => hooked.post('/token?grant_type=password', who);
  expect(await cost(hooked, 200, signIn)).toBe(2);
  const { refresh_token } = (await signIn()).body;
  const refresh = () => hooked.post('/token?grant_type=refresh_token', { refresh_token });
  expect(await cost(hooked, 200, refresh)).toBe(1);
  expect(hook.questions.map(({ body }) => body.metadata.name)).toEqual([
    'before-user-created',
    'customize-access-token',
    'password-verification',
    'customize-access-token',
    'password-verification',
    'customize-access-token',
    'customize-access-token',
  ]);
});

test('unlinking an identity takes two', async () => {
  await using linking = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  });
  const session = await linking.post('/signup', { email: someone(), password: PASSWORD });
  const id = randomUUID();
  await linking.rows.autocommit().run`
    insert into :schema.identities (id, provider_id, user_id, identity_data, provider, created_at, updated_at)
    values (${id}::uuid, 'one', ${session.body.user?.id ?? ''}::uuid, '{}', 'github', now(), now())`;
  const unlink = () => linking.send('DELETE', `/user/identities/${id}`, undefined, bearer(session));
  expect(await cost(linking, 200, unlink)).toBe(2);
});

test('a sign-in with a wallet takes two, the first and any other', async () => {
  await using open = await startSubject({ AUTHSVC_EXTERNAL_WEB3_SOLANA_ENABLED: 'true' });
  const wallet = solanaWallet();
  for (const _ of ['first', 'second']) {
    const message = messageFor(wallet, { issuedAt: open.clock.now() });
    const body = { chain: 'solana', message, signature: wallet.sign(message) };
    expect(await cost(open, 200, () => open.post('/token?grant_type=web3', body))).toBe(2);
  }
});

test('a counter that counts: a confirmed user costs more than one', async () => {
  await using other = await startSubject();
  expect(await other.countRoundTrips(() => confirmedUser(other))).toBeGreaterThan(3);
});

test('a second factor takes two to enrol, to challenge, to prove and to take away; so does a recovery code', async () => {
  const session = await autoconfirming.post('/signup', { email: someone(), password: PASSWORD });
  const { high, factor } = await guarded(autoconfirming);
  const answer = { challenge_id: await challenged(autoconfirming, high, factor.id), code: factor.code() };
  const post =
    (who: Answer, path: string, body: object = {}) =>
    () =>
      autoconfirming.post(path, body, bearer(who));
  expect(await cost(autoconfirming, 200, post(session, '/factors', { factor_type: 'totp' }))).toBe(2);
  expect(await cost(autoconfirming, 200, post(high, `/factors/${factor.id}/challenge`))).toBe(2);
  const wrong = { ...answer, code: factor.wrong() };
  expect(await cost(autoconfirming, 422, post(high, `/factors/${factor.id}/verify`, wrong))).toBe(2);
  expect(await cost(autoconfirming, 200, post(high, `/factors/${factor.id}/verify`, answer))).toBe(2);
  expect(await cost(autoconfirming, 200, post(high, '/factors/recovery-codes'))).toBe(2);
  const remove = () => autoconfirming.send('DELETE', `/factors/${factor.id}`, undefined, bearer(high));
  expect(await cost(autoconfirming, 200, remove)).toBe(2);
});
