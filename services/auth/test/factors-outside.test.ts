import { fixedClock } from '@croft/testing';
import { expect, test } from 'vitest';
import { type Answer, claimsOf, startSubject } from './harness.ts';
import { type HookEmulator, hookEmulator } from './support/hook-emulator.ts';
import {
  as,
  challenged,
  enrolled,
  guarded,
  signedUp,
  succeeded,
  verified,
} from './support/second-factors.ts';
import { smsEmulator, TWILIO_CODE } from './support/sms-emulators.ts';

// Second factors where somebody else has a say: the provider that makes the codes, and the operator's hook.

const said = ({ status, body }: Answer) => [status, body['error_code']];

test('Twilio Verify makes the codes of phones, and guesses at the same moment are counted before it is asked', async () => {
  await using emulator = await smsEmulator('twilio_verify');
  await using subject = await startSubject({
    ...emulator.environment,
    AUTHSVC_SMS_URL: emulator.url,
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_MFA_PHONE_ENROLL_ENABLED: 'true',
    AUTHSVC_MFA_PHONE_VERIFY_ENABLED: 'true',
  });
  const { session } = await signedUp(subject);
  const phone = { factor_type: 'phone', phone: '+15551234567' };
  const id = String(succeeded(await as(subject, session).post('/factors', phone)).body.id);
  const challenge = async () => {
    const challenge_id = await challenged(subject, session, id);
    await (await subject.outbox()).drain();
    return challenge_id;
  };
  let challenge_id = await challenge();
  const answer = (code: string) => as(subject, session).post(`/factors/${id}/verify`, { challenge_id, code });
  const asked = () => emulator.requests.filter(({ path }) => path.includes('VerificationCheck')).length;
  const guesses = await Promise.all(Array.from({ length: 12 }, () => answer('000000')));
  expect(guesses.map(({ status }) => status).sort()).toEqual([...Array(5).fill(422), ...Array(7).fill(429)]);
  expect(asked()).toBe(5);
  // Twilio has had enough of this one as well.
  subject.clock.advance(60_000);
  challenge_id = await challenge();
  const raised = succeeded(await answer(TWILIO_CODE));
  expect(claimsOf(subject, raised)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/phone' }, {}] });
  // The right one was counted and taken back: it locked nothing.
  const rows = await subject.rows.autocommit().rows`
    select round(wrong_codes) as level, locked_until from :schema.mfa_factors`;
  expect(rows).toEqual([{ level: 5, locked_until: null }]);
});

test('the hook hears of every attempt, and what it rejects raises nothing and signs the user out', async () => {
  await using emulator = await hookEmulator(() => fixedClock().now());
  await using subject = await startSubject({
    ...emulator.settings('MFA_VERIFICATION_ATTEMPT'),
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  });
  const { session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  expect(said(await verified(subject, session, factor.id, factor.wrong()))).toEqual([
    422,
    'mfa_verification_failed',
  ]);
  emulator.answer = { decision: 'reject', message: 'not from there' };
  const rejected = await verified(subject, session, factor.id, factor.code());
  expect([...said(rejected), rejected.body['msg']]).toEqual([
    403,
    'mfa_verification_rejected',
    'not from there',
  ]);
  const { id } = session.body.user ?? {};
  const question = { user_id: id, factor_id: factor.id, factor_type: 'totp' };
  expect(emulator.questions.map(({ body }) => body)).toMatchObject([
    { ...question, valid: false },
    { ...question, valid: true },
  ]);
  const left = await subject.rows.autocommit().rows<{ status: string }>`
    select f.status from :schema.mfa_factors f where not exists (select from :schema.sessions)`;
  expect(left).toEqual([{ status: 'unverified' }]);
});

test('a hook that fails lets nobody guess for free, and no recovery code be lost', async () => {
  await using emulator = await hookEmulator(() => fixedClock().now());
  await using subject = await startSubject({
    ...emulator.settings('MFA_VERIFICATION_ATTEMPT'),
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  });
  const { high, low, factor } = await guarded(subject);
  const made = await as(subject, high).post('/factors/recovery-codes');
  const [code] = made.body['codes'] as string[];
  emulator.answer = { error: { http_code: 400, message: 'no' } };
  const challenge_id = await challenged(subject, low, factor.id);
  const answers = [];
  for (let n = 0; n < 6; n++) {
    const body = { challenge_id, code: factor.wrong() };
    answers.push((await as(subject, low).post(`/factors/${factor.id}/verify`, body)).status);
  }
  expect(answers).toEqual([400, 400, 400, 400, 400, 429]);
  const enter = () => as(subject, low).post('/factors/recovery-codes/verify', { code });
  expect((await enter()).status).toBe(400);
  emulator.answer = { decision: 'continue' };
  expect((await enter()).status).toBe(200);
});

const asGiven: HookEmulator['answer'] = (response, { body }) =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ claims: body['claims'] }));

test('a hook that is out of order when the factor is shown signs nobody out: the next code does', async () => {
  await using emulator = await hookEmulator(() => fixedClock().now());
  await using subject = await startSubject({
    ...emulator.settings('CUSTOM_ACCESS_TOKEN'),
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  });
  emulator.answer = asGiven;
  const { session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  const broken: HookEmulator['answer'][] = [(response) => void response.writeHead(500).end(), {}];
  for (const answer of broken) {
    emulator.answer = answer;
    expect((await verified(subject, session, factor.id, factor.code())).status).toBe(500);
    expect((await as(subject, session).get('/user')).status).toBe(200);
    subject.clock.advance(30_000);
  }
  emulator.answer = asGiven;
  const raised = succeeded(await verified(subject, session, factor.id, factor.code()));
  expect(claimsOf(subject, raised)).toMatchObject({ aal: 'aal2' });
  const { refresh_token } = raised.body;
  expect((await subject.post('/token?grant_type=refresh_token', { refresh_token })).status).toBe(200);
});

test('an access token that a hook forbids leaves no session that nobody can use', async () => {
  await using emulator = await hookEmulator(() => fixedClock().now());
  await using subject = await startSubject({
    ...emulator.settings('CUSTOM_ACCESS_TOKEN'),
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  });
  emulator.answer = asGiven;
  const { session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  emulator.answer = { error: { http_code: 403, message: 'no' } };
  expect((await verified(subject, session, factor.id, factor.code())).status).toBe(403);
  expect(await subject.rows.autocommit().rows`select from :schema.sessions`).toEqual([]);
});
