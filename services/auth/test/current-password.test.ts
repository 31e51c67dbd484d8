import { describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  claimsOf,
  PASSWORD,
  readMail,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { bearerOf } from './support/administrators.ts';

const SETTINGS = {
  AUTHSVC_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
  AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
};
const NEW = 'another battery staple';
const signUp = (on: Subject) => on.post('/signup', { email: someone(), password: PASSWORD });
const change = (on: Subject, session: Answer, body: object) =>
  on.send('PUT', '/user', JSON.stringify({ password: NEW, ...body }), bearer(session));
const refusalOf = ({ status, body }: Answer) => [status, body['error_code'], body['msg']];

describe('with SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD', async () => {
  const subject = await startSubject(SETTINGS);

  test('who knows the present password sets another', async () => {
    const user = await signUp(subject);
    expect((await change(subject, user, { current_password: PASSWORD })).status).toBe(200);
    const email = user.body.user?.email;
    expect((await subject.post('/token?grant_type=password', { email, password: NEW })).status).toBe(200);
    expect(await subject.audit()).toContain('user_updated_password');
  });

  test.each<[string, object, unknown[]]>([
    ['none', {}, [400, 'current_password_required', 'Current password required when setting new password.']],
    [
      'null',
      { current_password: null },
      [400, 'current_password_required', 'Current password required when setting new password.'],
    ],
    [
      'a wrong one',
      { current_password: 'wrong' },
      [400, 'current_password_invalid', 'Current password is invalid.'],
    ],
    [
      'the new one',
      { current_password: NEW },
      [400, 'current_password_invalid', 'Current password is invalid.'],
    ],
    [
      'the present one for the new one',
      { current_password: PASSWORD, password: PASSWORD },
      [422, 'same_password', 'New password should be different from the old password.'],
    ],
  ])('%s is refused', async (_name, body, refusal) => {
    const user = await signUp(subject);
    const before = await subject.snapshot();
    expect(refusalOf(await change(subject, user, { ...body, data: { color: 'blue' } }))).toEqual(refusal);
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([[[null]], [['otp']], [[{ method: 'otp' }]], ['otp'], [{}]])(
    'a token that says it was signed in by %j is no recovery, and no mistake of ours',
    async (amr) => {
      const user = await signUp(subject);
      const token = bearerOf(subject, { ...claimsOf(subject, user), amr });
      const before = await subject.snapshot();
      const answer = await subject.send('PUT', '/user', JSON.stringify({ password: NEW }), token);
      expect(refusalOf(answer).slice(0, 2)).toEqual([400, 'current_password_required']);
      expect(await subject.snapshot()).toBe(before);
    },
  );

  test('nothing but a new password asks for it', async () => {
    const user = await signUp(subject);
    const answer = await subject.send(
      'PUT',
      '/user',
      JSON.stringify({ data: { color: 'blue' } }),
      bearer(user),
    );
    expect(answer.status).toBe(200);
  });

  test('who has no password sets the first one', async () => {
    const anonymous = await subject.post('/signup', {});
    expect((await change(subject, anonymous, { email: someone() })).status).toBe(200);
  });

  test('who was just signed in by a mail has forgotten it, for an hour', async () => {
    const user = await signUp(subject);
    const email = user.body.user?.email;
    await subject.post('/recover', { email });
    const mail = (await subject.mails()).findLast(({ headers }) => headers.get('to') === email);
    const recovered = await subject.post('/verify', { type: 'recovery', token_hash: readMail(mail).token });
    subject.clock.advance(3_599_000);
    const still = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: recovered.body.refresh_token,
    });
    expect((await change(subject, still, {})).status).toBe(200);
    subject.clock.advance(1_000);
    const late = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: still.body.refresh_token,
    });
    expect(refusalOf(await change(subject, late, { password: PASSWORD }))[1]).toBe(
      'current_password_required',
    );
    await subject[Symbol.asyncDispose]();
  });
});

test('guesses are counted for the account, wherever they come from', async () => {
  await using subject = await startSubject({
    ...SETTINGS,
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    AUTHSVC_TRUSTED_PROXIES: 'loopback',
  });
  const user = await signUp(subject);
  const other = await signUp(subject);
  const before = await subject.snapshot();
  const statuses = [];
  for (let i = 0; i < 12; i++) {
    const answer = await subject.send(
      'PUT',
      '/user',
      JSON.stringify({ password: NEW, current_password: `guess ${i}` }),
      { ...bearer(user), 'x-forwarded-for': `192.0.2.${i}` },
    );
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
  const right = await change(subject, user, { current_password: PASSWORD });
  expect(refusalOf(right).slice(0, 2)).toEqual([429, 'over_request_rate_limit']);
  expect(Number(right.headers['retry-after'])).toBeGreaterThan(0);
  expect(await subject.snapshot()).toBe(before);
  expect((await change(subject, other, { current_password: PASSWORD })).status).toBe(200);
  subject.clock.advance(300_000);
  expect((await change(subject, user, { current_password: PASSWORD })).status).toBe(200);
});

test('without the setting it is not looked at', async () => {
  await using subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  const user = await signUp(subject);
  expect((await change(subject, user, { current_password: 'wrong' })).status).toBe(200);
});
