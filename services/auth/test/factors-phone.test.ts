import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, type Subject, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';
import { capturedSms, lastCode } from './support/captured-sms.ts';
import { as, challenged, guarded, signedUp, succeeded, verified } from './support/second-factors.ts';

// Phones as second factors: the code comes by SMS, by way of the outbox.

const environment = {
  AUTHSVC_MAILER_AUTOCONFIRM: 'true',
  AUTHSVC_MFA_PHONE_ENROLL_ENABLED: 'true',
  AUTHSVC_MFA_PHONE_VERIFY_ENABLED: 'true',
  AUTHSVC_MFA_PHONE_TEMPLATE: 'Second factor: {{ .Code }}',
  AUTHSVC_SMS_TEST_OTP: '15550009999:424242',
};
let subject: Subject;
beforeAll(async () => {
  subject = await startSubject(environment);
});
afterAll(() => subject[Symbol.asyncDispose]());

let numbers = 15_550_001_000;
const someNumber = () => String(++numbers);
const said = ({ status, body }: Answer) => [status, body['error_code']];

async function withPhone(on = subject, phone = someNumber()) {
  const { email, session } = await signedUp(on);
  const answer = succeeded(
    await as(on, session).post('/factors', { factor_type: 'phone', phone: `+${phone}` }),
  );
  return { email, session, phone, id: String(answer.body.id), answer };
}
const wrongOf = (code: string) => (code === '000000' ? '111111' : '000000');

test('a phone is enrolled, gets a code, and raises the session with it', async () => {
  const { session, phone, id, answer } = await withPhone();
  // A name there is always, which some clients insist on, and the number is as it was given.
  expect(answer.body).toEqual({ id, type: 'phone', friendly_name: '', phone: `+${phone}` });
  const challenge = await as(subject, session).post(`/factors/${id}/challenge`, { channel: 'sms' });
  expect([challenge.status, challenge.body]).toEqual([
    200,
    { id: expect.any(String), type: 'phone', expires_at: expect.any(Number) },
  ]);
  expect((await capturedSms(subject)).findLast(({ to }) => to === phone)?.text).toMatch(
    /^Second factor: \d{6}$/,
  );
  const code = await lastCode(subject, phone);
  expect(await subject.snapshot()).not.toContain(`"${code}"`);
  const body = { challenge_id: challenge.body.id, code };
  const raised = await as(subject, session).post(`/factors/${id}/verify`, body);
  expect(claimsOf(subject, raised)).toMatchObject({
    aal: 'aal2',
    amr: [{ method: 'mfa/phone' }, { method: 'password' }],
  });
  expect(raised.body.user).toMatchObject({
    factors: [{ id, factor_type: 'phone', phone, status: 'verified' }],
  });
  // Once.
  expect(said(await as(subject, raised).post(`/factors/${id}/verify`, body))).toEqual([
    422,
    'mfa_factor_not_found',
  ]);
});

test('the code of one challenge answers no other, and wrong ones lock the phone across challenges', async () => {
  const { session, phone, id } = await withPhone();
  const first = await challenged(subject, session, id);
  const code = await lastCode(subject, phone);
  subject.clock.advance(60_000);
  const second = await challenged(subject, session, id);
  const answer = (challenge_id: string, typed: string) =>
    as(subject, session).post(`/factors/${id}/verify`, { challenge_id, code: typed });
  const other = await lastCode(subject, phone);
  if (other !== code) expect(said(await answer(second, code))).toEqual([422, 'mfa_verification_failed']);
  for (let n = 0; n < 5; n++) await answer(n % 2 === 0 ? first : second, wrongOf(code));
  const before = await subject.snapshot();
  expect(said(await answer(first, code))).toEqual([429, 'over_request_rate_limit']);
  expect(await subject.snapshot()).toBe(before);
});

test('messages have an interval: of a number, whoever claims it, and of a user, whatever he claims', async () => {
  const { session, phone, id } = await withPhone();
  await challenged(subject, session, id);
  const sent = (await capturedSms(subject)).length;
  const theirs = await withPhone(subject, phone);
  const mine = succeeded(
    await as(subject, session).post('/factors', { factor_type: 'phone', phone: someNumber() }),
  );
  const before = await subject.snapshot();
  for (const [who, factorId] of [
    [session, id],
    [theirs.session, theirs.id],
    [session, mine.body.id],
  ] as const) {
    const answer = await as(subject, who).post(`/factors/${factorId}/challenge`);
    expect([...said(answer), answer.headers['retry-after']]).toEqual([429, 'over_sms_send_rate_limit', '60']);
  }
  expect(await subject.snapshot()).toBe(before);
  expect((await capturedSms(subject)).length).toBe(sent);
  subject.clock.advance(60_000);
  await challenged(subject, session, id);
});

test('attack: whoever claims somebody’s number keeps no code from the owner of the proven factor', async () => {
  const { email, session, phone, id } = await withPhone();
  const challenge_id = await challenged(subject, session, id);
  const body = { challenge_id, code: await lastCode(subject, phone) };
  succeeded(await as(subject, session).post(`/factors/${id}/verify`, body));
  subject.clock.advance(60_000);
  const thief = await withPhone(subject, phone);
  await challenged(subject, thief.session, thief.id);
  const owner = succeeded(await signIn(subject, email));
  const asked = await challenged(subject, owner, id);
  const answer = { challenge_id: asked, code: await lastCode(subject, phone) };
  succeeded(await as(subject, owner).post(`/factors/${id}/verify`, answer));
  // Each still has its interval: the number for those who only claim it, the proven factor in all sessions.
  const other = await withPhone(subject, phone);
  const low = succeeded(await signIn(subject, email));
  for (const request of [
    () => as(subject, other.session).post(`/factors/${other.id}/challenge`),
    () => as(subject, low).post(`/factors/${id}/challenge`),
  ]) {
    const before = await subject.snapshot();
    expect(said(await request())).toEqual([429, 'over_sms_send_rate_limit']);
    expect(await subject.snapshot()).toBe(before);
  }
});

test('a number of a tester gets no message and takes the code of the settings', async () => {
  const { session, id } = await withPhone(subject, '15550009999');
  const sent = (await capturedSms(subject)).length;
  expect((await verified(subject, session, id, '424242')).status).toBe(200);
  expect((await capturedSms(subject)).length).toBe(sent);
});

test('who begins anew with the same number gets another factor, and no further message for it', async () => {
  const { session } = await signedUp(subject);
  const phone = someNumber();
  const enrol = () =>
    as(subject, session).post('/factors', {
      factor_type: 'phone',
      friendly_name: 'mine',
      phone: `+${phone}`,
    });
  const first = succeeded(await enrol()).body;
  await challenged(subject, session, String(first.id));
  const second = succeeded(await enrol()).body;
  const { factors } = (await subject.get('/user', bearer(session))).body as { factors: { id: string }[] };
  expect(factors.map(({ id }) => id)).toEqual([second.id]);
  const sent = (await capturedSms(subject)).length;
  expect(said(await as(subject, session).post(`/factors/${second.id}/challenge`))).toEqual([
    429,
    'over_sms_send_rate_limit',
  ]);
  expect((await capturedSms(subject)).length).toBe(sent);
});

test('what is no number, or a proven one twice, is refused; so is a channel that is not there', async () => {
  const { session, phone, id } = await withPhone();
  const challenge_id = await challenged(subject, session, id);
  const body = { challenge_id, code: await lastCode(subject, phone) };
  const raised = succeeded(await as(subject, session).post(`/factors/${id}/verify`, body));
  const before = await subject.snapshot();
  const post = (fields: object) => as(subject, raised).post('/factors', { factor_type: 'phone', ...fields });
  expect((await post({})).body['msg']).toBe('Phone number required to enroll Phone factor');
  expect(said(await post({ phone: 'x' }))).toEqual([400, 'validation_failed']);
  expect(said(await post({ phone }))).toEqual([422, 'mfa_verified_factor_exists']);
  const channel = await as(subject, raised).post(`/factors/${id}/challenge`, { channel: 'pigeon' });
  expect(said(channel)).toEqual([400, 'validation_failed']);
  expect(await subject.snapshot()).toBe(before);
});

test('another number of an administrator’s makes the code of the former one worthless', async () => {
  const { session, phone, id } = await withPhone();
  const challenge_id = await challenged(subject, session, id);
  const code = await lastCode(subject, phone);
  const { serviceRole } = await import('./support/administrators.ts');
  const path = `/admin/users/${session.body.user?.id}/factors/${id}`;
  const moved = await subject.send(
    'PUT',
    path,
    JSON.stringify({ phone: '+15550007777' }),
    serviceRole(subject),
  );
  expect(moved.body['phone']).toBe('15550007777');
  const answer = await as(subject, session).post(`/factors/${id}/verify`, { challenge_id, code });
  expect(said(answer)).toEqual([422, 'mfa_factor_not_found']);
});

test('a thief’s phone that was begun before the owner had a factor adds nothing to his password', async () => {
  const { email, session } = await signedUp(subject);
  const thief = succeeded(await signIn(subject, email));
  const phone = someNumber();
  const begun = succeeded(await as(subject, thief).post('/factors', { factor_type: 'phone', phone }));
  const { enrolled } = await import('./support/second-factors.ts');
  const factor = await enrolled(subject, session);
  succeeded(await verified(subject, session, factor.id, factor.code()));
  const again = succeeded(await signIn(subject, email));
  const challenge_id = await challenged(subject, again, String(begun.body.id));
  const body = { challenge_id, code: await lastCode(subject, phone) };
  const before = await subject.snapshot();
  const answer = await as(subject, again).post(`/factors/${begun.body.id}/verify`, body);
  expect(said(answer)).toEqual([403, 'insufficient_aal']);
  expect(await subject.snapshot()).toBe(before);
});

test('phones are off where nobody switched them on', async () => {
  await using plain = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  const { high } = await guarded(plain);
  const answer = await as(plain, high).post('/factors', { factor_type: 'phone', phone: '15550001' });
  expect(said(answer)).toEqual([422, 'mfa_phone_enroll_not_enabled']);
  await using half = await startSubject({ ...environment, AUTHSVC_MFA_PHONE_VERIFY_ENABLED: 'false' });
  const { session, id } = await withPhone(half);
  expect(said(await as(half, session).post(`/factors/${id}/challenge`))).toEqual([
    422,
    'mfa_phone_verify_not_enabled',
  ]);
});
