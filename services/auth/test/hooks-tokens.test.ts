import type { ServerResponse } from 'node:http';
import { fixedClock } from '@croft/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  claimsOf,
  confirmedUser,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { type HookEmulator, hookEmulator, type Question } from './support/hook-emulator.ts';

// The hook custom_access_token: what it may say of a token, and what becomes of sessions it will have no token for.

let emulator: HookEmulator;
let subject: Subject;
let autoconfirming: Subject;
beforeEach(async () => {
  emulator = await hookEmulator(() => fixedClock().now());
  emulator.answer = given;
  const settings = emulator.settings('CUSTOM_ACCESS_TOKEN');
  subject = await startSubject(settings);
  autoconfirming = await startSubject({
    ...settings,
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  });
});
afterEach(async () => {
  await subject[Symbol.asyncDispose]();
  await autoconfirming[Symbol.asyncDispose]();
  await emulator[Symbol.asyncDispose]();
});

function claimsIn(question: Question | undefined): Record<string, unknown> {
  return question?.body['claims'] as Record<string, unknown>;
}
/** Takes the claims as they are. */
function given(response: ServerResponse, question: Question): void {
  adding({})(response, question);
}
const adding =
  (claims: object) =>
  (response: ServerResponse, question: Question): void =>
    json(response, { claims: { ...claimsIn(question), ...claims } });
function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
const refusal = { error: { http_code: 403, message: 'You are on holiday' } };

const signIn = (email: string, by = subject): Promise<Answer> =>
  by.post('/token?grant_type=password', { email, password: PASSWORD });
const refresh = (token: unknown, by = subject): Promise<Answer> =>
  by.post('/token?grant_type=refresh_token', { refresh_token: token });

describe('the hook', () => {
  test('is asked for every token, by every way in', async () => {
    const session = await confirmedUser(subject);
    await signIn(String(session.body.user?.email));
    const refreshed = await refresh(session.body.refresh_token);
    expect(refreshed.status).toBe(200);
    await autoconfirming.post('/signup', { email: someone(), password: PASSWORD });
    await autoconfirming.post('/signup', { data: {} });
    expect(emulator.questions.map(({ body }) => body['authentication_method'])).toEqual([
      'otp',
      'password',
      'token_refresh',
      'password',
      'anonymous',
    ]);
    const [question] = emulator.questions;
    expect(question?.body).toEqual({
      metadata: {
        uuid: question?.id,
        time: subject.clock.now().toISOString(),
        name: 'customize-access-token',
        ip_address: '127.0.0.1',
      },
      user_id: session.body.user?.id,
      claims: claimsOf(subject, session),
      authentication_method: 'otp',
    });
  });

  test('adds claims, and changes those that are not who somebody is', async () => {
    const soon = Math.floor(subject.clock.now().getTime() / 1000) + 60;
    emulator.answer = adding({ role: 'editor', tenant: { id: 7 }, exp: soon });
    const answer = await confirmedUser(subject);
    expect(claimsOf(subject, answer)).toMatchObject({ role: 'editor', tenant: { id: 7 }, exp: soon });
    expect(answer.body).toMatchObject({ expires_in: 60, expires_at: soon, user: { role: 'authenticated' } });
    expect((await subject.get('/user', bearer(answer))).status).toBe(200);
  });

  test('costs a refresh no statement', async () => {
    const session = await confirmedUser(subject);
    expect(await subject.countRoundTrips(() => refresh(session.body.refresh_token))).toBe(1);
  });
});

const bad: [
  string,
  object | ((response: ServerResponse, question: Question) => void),
  { code: number; [member: string]: unknown },
][] = [
  ['refuses', refusal, { code: 403, error_code: 'unknown', msg: 'You are on holiday' }],
  ['refuses without a status', { error: { message: 'no' } }, { code: 500, msg: 'no' }],
  ['has no claims', {}, { code: 500, msg: 'output claims field is missing' }],
  ['removes a claim', adding({ aal: undefined }), { code: 500 }],
  ['forges the user', adding({ sub: '00000000-0000-4000-8000-000000000001' }), { code: 500 }],
  ['forges the session', adding({ session_id: '00000000-0000-4000-8000-000000000001' }), { code: 500 }],
  ['forges a second factor', adding({ aal: 'aal2' }), { code: 500 }],
  ['answers a list', (response) => json(response, []), { code: 500, msg: 'Error unmarshaling JSON output.' }],
  ['breaks', (response) => void response.writeHead(500).end('secret trace'), { code: 500 }],
  [
    'answers a page',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>secret</p>'),
    { code: 400, error_code: 'hook_payload_invalid_content_type' },
  ],
];

describe('a hook that', () => {
  test.each(bad)('%s: nobody is signed in, and no session stays', async (_name, answer, expected) => {
    const session = await confirmedUser(subject);
    const email = String(session.body.user?.email);
    const sessions = async () =>
      await subject.rows.autocommit().rows`
        select s.id, t.counter from :schema.sessions s join :schema.refresh_tokens t on t.session_id = s.id
        where t.revoked_at is null`;
    const before = await sessions();
    emulator.answer = answer;
    const refused = await signIn(email);
    expect(refused.body).toMatchObject(expected);
    expect(refused.text).not.toContain('secret');
    expect(refused.text).not.toContain(emulator.url);
    expect(await sessions()).toEqual(before);
    emulator.answer = given;
    expect((await signIn(email)).status).toBe(200);
  });

  test.each(bad)(
    '%s: a refresh that is asked again gives the same child',
    async (_name, answer, expected) => {
      const session = await confirmedUser(subject);
      emulator.answer = answer;
      // Clients sign out whom a 4xx refuses, and come again after a 5xx: what is out of order refuses nobody.
      const hasClientsStatus = expected.code < 500 && answer !== refusal;
      const told = hasClientsStatus ? { ...expected, code: 503 } : expected;
      const refused = await refresh(session.body.refresh_token);
      expect(refused.body).toMatchObject(told);
      expect(refused.headers['retry-after']).toBe(hasClientsStatus ? '2' : undefined);
      expect((await refresh(session.body.refresh_token)).body).toMatchObject(told);
      emulator.answer = given;
      const first = await refresh(session.body.refresh_token);
      const second = await refresh(session.body.refresh_token);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.body.refresh_token).toBe(first.body.refresh_token);
      expect(first.body.refresh_token).not.toBe(session.body.refresh_token);
      expect((await refresh(first.body.refresh_token)).status).toBe(200);
    },
  );

  test('refuses a sign-up leaves an account that can sign in once it does not', async () => {
    emulator.answer = refusal;
    const email = someone();
    const refused = await autoconfirming.post('/signup', { email, password: PASSWORD });
    expect(refused.body).toMatchObject({ code: 403, msg: 'You are on holiday' });
    emulator.answer = given;
    expect((await signIn(email, autoconfirming)).status).toBe(200);
  });

  test('refuses a code has it spent, and the address proven', async () => {
    const email = someone();
    await subject.post('/signup', { email, password: PASSWORD });
    const { token } = readMail((await subject.mails()).at(-1));
    emulator.answer = refusal;
    const verify = () => subject.post('/verify', { type: 'signup', token_hash: token });
    expect((await verify()).body).toMatchObject({ code: 403 });
    emulator.answer = given;
    expect((await verify()).body).toMatchObject({ error_code: 'otp_expired' });
    expect((await signIn(email)).status).toBe(200);
  });

  test('hangs holds no connection of the database', async () => {
    await using hanging = await startSubject({
      ...emulator.settings('CUSTOM_ACCESS_TOKEN'),
      AUTHSVC_MAILER_AUTOCONFIRM: 'true',
      AUTHSVC_DB_MAX_POOL_SIZE: '1',
      AUTHSVC_API_MAX_REQUEST_DURATION: '2s',
    });
    const session = await hanging.post('/signup', { email: someone(), password: PASSWORD });
    emulator.answer = () => undefined;
    const waiting = Array.from({ length: 8 }, () => refresh(session.body.refresh_token, hanging));
    await expect.poll(() => emulator.questions.length).toBe(9);
    expect((await hanging.get('/user', bearer(session))).status).toBe(200);
    expect((await hanging.get('/ready')).status).toBe(200);
    for (const { body } of await Promise.all(waiting)) {
      expect(body).toMatchObject({ code: 503, error_code: 'hook_timeout' });
    }
    emulator.answer = given;
    expect((await refresh(session.body.refresh_token, hanging)).status).toBe(200);
  });
});

test('a refusal speaks the version its client asked for', async () => {
  const session = await confirmedUser(subject);
  emulator.answer = { error: { http_code: 418, message: 'short and stout' } };
  const answer = await subject.post(
    '/token?grant_type=refresh_token',
    { refresh_token: session.body.refresh_token },
    { 'x-supabase-api-version': '2024-01-01' },
  );
  expect(answer.status).toBe(418);
  expect(answer.body).toEqual({ code: 'unknown', message: 'short and stout' });
});
