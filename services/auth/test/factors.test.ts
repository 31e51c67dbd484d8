import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, claimsOf, PASSWORD, type Subject, startSubject } from './harness.ts';
import { signIn } from './support/administrators.ts';
import {
  as,
  challenged,
  enrolled,
  guarded,
  signedUp,
  succeeded,
  verified,
} from './support/second-factors.ts';

// Second factors as their owner meets them; the codes come from another implementation of TOTP than ours.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

const refresh = (token: unknown) => subject.post('/token?grant_type=refresh_token', { refresh_token: token });

test('a factor is enrolled with what an app reads: a QR code, a key and an address', async () => {
  const { session, email } = await signedUp(subject);
  const body = { factor_type: 'totp', friendly_name: 'my phone', issuer: 'Acme: Ltd' };
  const answer = await as(subject, session).post('/factors', body);
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { totp, ...rest } = answer.body as { totp: { qr_code: string; secret: string; uri: string } };
  expect(rest).toEqual({ id: expect.any(String), type: 'totp', friendly_name: 'my phone' });
  expect(totp.secret).toMatch(/^[A-Z2-7]{32}$/);
  const uri = new URL(totp.uri);
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    'totp',
    `/Acme: Ltd:${email}`,
  ]);
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    algorithm: 'SHA1',
    digits: '6',
    issuer: 'Acme: Ltd',
    period: '30',
    secret: totp.secret,
  });
  expect(totp.qr_code).toMatch(/^<svg [^#]*<\/svg>$/s);
  // The key is nowhere in clear.
  expect(await subject.snapshot()).not.toContain(totp.secret);
  expect((await subject.audit()).at(-1)).toBe('factor_in_progress');
  const { factors } = (await subject.get('/user', bearer(session))).body;
  expect(factors).toEqual([
    {
      id: rest['id' as keyof typeof rest],
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      status: 'unverified',
      friendly_name: 'my phone',
      factor_type: 'totp',
    },
  ]);
});

test('the right code proves the factor and raises the session: same session, new tokens, aal2', async () => {
  const { session, email } = await signedUp(subject);
  const other = await signIn(subject, email);
  const [factor, leftover] = [await enrolled(subject, session), await enrolled(subject, session)];
  expect(claimsOf(subject, session)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] });
  const challenge = await as(subject, session).post(`/factors/${factor.id}/challenge`);
  const now = Math.floor(subject.clock.now().getTime() / 1000);
  expect([challenge.status, challenge.body]).toEqual([
    200,
    { id: expect.any(String), type: 'totp', expires_at: now + 300 },
  ]);
  subject.clock.advance(1000);
  const answer = { challenge_id: challenge.body.id, code: factor.code() };
  const raised = await as(subject, session).post(`/factors/${factor.id}/verify`, answer);
  expect(raised.status).toBe(200);
  expect(raised.headers['cache-control']).toBe('no-store');
  const [before, after] = [claimsOf(subject, session), claimsOf(subject, raised)];
  expect(after['session_id']).toBe(before['session_id']);
  expect(after).toMatchObject({ aal: 'aal2', amr: [{ method: 'totp' }, { method: 'password' }] });
  // What was begun beside it is gone, and so is the session that shows less.
  const factors = [expect.objectContaining({ id: factor.id, status: 'verified' })];
  expect(raised.body.user).toMatchObject({ factors });
  expect((await subject.get('/user', bearer(raised))).body).toMatchObject({ factors });
  expect((await as(subject, raised).post(`/factors/${leftover.id}/challenge`)).status).toBe(404);
  expect((await subject.get('/user', bearer(other))).status).toBe(403);
  expect((await refresh(other.body.refresh_token)).status).toBe(400);
  // The new refresh token goes on, at the same level.
  const next = await refresh(raised.body.refresh_token);
  expect(claimsOf(subject, next)).toMatchObject({
    aal: 'aal2',
    amr: [{ method: 'totp' }, { method: 'password' }],
  });
  expect(next.body.user).toMatchObject({ factors });
  expect((await refresh(next.body.refresh_token)).status).toBe(200);
  expect((await subject.audit()).filter((action) => /challenge|verification/.test(action)).slice(-2)).toEqual(
    ['challenge_created', 'verification_attempted'],
  );
});

test('a refresh token from before the factor was shown is worth nothing, and ends the family', async () => {
  const { session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  const raised = succeeded(await verified(subject, session, factor.id, factor.code()));
  subject.clock.advance(30_000);
  const stolen = await refresh(session.body.refresh_token);
  expect([stolen.status, stolen.body['error_code']]).toEqual([400, 'refresh_token_already_used']);
  expect((await refresh(raised.body.refresh_token)).status).toBe(400);
});

test('a code of the step before or after counts, one further away does not', async () => {
  for (const steps of [-1, 0, 1]) {
    const { session } = await signedUp(subject);
    const factor = await enrolled(subject, session);
    expect((await verified(subject, session, factor.id, factor.code(steps))).status, `${steps}`).toBe(200);
  }
  for (const steps of [-2, 2]) {
    const { session } = await signedUp(subject);
    const factor = await enrolled(subject, session);
    const answer = await verified(subject, session, factor.id, factor.code(steps));
    expect([answer.status, answer.body]).toEqual([
      422,
      { code: 422, error_code: 'mfa_verification_failed', msg: 'Invalid TOTP code entered' },
    ]);
  }
});

test('a code as apps show it, in two groups, counts; what is no code is wrong', async () => {
  const { session } = await signedUp(subject);
  const factor = await enrolled(subject, session);
  for (const code of ['x', '1', '१२३४५६', `${factor.code()}0`]) {
    expect((await verified(subject, session, factor.id, code)).status, code).toBe(422);
  }
  const empty = await verified(subject, session, factor.id, ' ');
  expect([empty.status, empty.body['msg']]).toEqual([400, 'Code needs to be non-empty']);
  const typed = `${factor.code().slice(0, 3)} ${factor.code().slice(3)}`;
  expect((await verified(subject, session, factor.id, typed)).status).toBe(200);
});

test('verification takes two round trips, right or wrong; so do enrolment, challenge and unenrolment', async () => {
  const { session } = await signedUp(subject);
  const trips = (work: () => Promise<unknown>) => subject.countRoundTrips(work);
  expect(await trips(() => as(subject, session).post('/factors', { factor_type: 'totp' }))).toBe(2);
  const factor = await enrolled(subject, session);
  expect(await trips(() => challenged(subject, session, factor.id))).toBe(2);
  const challenge_id = await challenged(subject, session, factor.id);
  const answer = (code: string) =>
    as(subject, session).post(`/factors/${factor.id}/verify`, { challenge_id, code });
  expect(await trips(() => answer(factor.wrong()))).toBe(2);
  let raised = session;
  expect(
    await trips(async () => {
      raised = succeeded(await answer(factor.code()));
    }),
  ).toBe(2);
  expect(await trips(() => as(subject, raised).delete(`/factors/${factor.id}`))).toBe(2);
  expect(await trips(() => refresh(raised.body.refresh_token))).toBe(1);
});

test('taking a factor away takes its level from the sessions it had raised', async () => {
  const { email, factor, high } = await guarded(subject);
  const second = succeeded(await verified(subject, await signIn(subject, email), factor.id, factor.code()));
  const gone = await as(subject, high).delete(`/factors/${factor.id}`);
  expect([gone.status, gone.body]).toEqual([200, { id: factor.id }]);
  for (const session of [high, second]) {
    const next = await refresh(session.body.refresh_token);
    expect(claimsOf(subject, next)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] });
    expect(next.body.user).not.toHaveProperty('factors');
  }
  expect((await subject.audit()).includes('factor_unenrolled')).toBe(true);
  // Nothing is left of it: the next one begins anew.
  const fresh = succeeded(await signIn(subject, email));
  const next = await enrolled(subject, fresh);
  expect((await verified(subject, fresh, next.id, next.code())).status).toBe(200);
});

test('with a second factor, password, address and further factors ask for it to be shown', async () => {
  const { factor, high, low } = await guarded(subject);
  const before = await subject.snapshot();
  for (const change of [{ password: 'another one' }, { email: 'new@example.com' }]) {
    const answer = await as(subject, low).put('/user', change);
    expect([answer.status, answer.body['error_code'], answer.body['msg']]).toEqual([
      401,
      'insufficient_aal',
      'AAL2 session is required to update email or password when MFA is enabled.',
    ]);
  }
  const another = await as(subject, low).post('/factors', { factor_type: 'totp' });
  expect([another.status, another.body['error_code'], another.body['msg']]).toEqual([
    403,
    'insufficient_aal',
    'AAL2 required to enroll a new factor',
  ]);
  const removal = await as(subject, low).delete(`/factors/${factor.id}`);
  expect([removal.status, removal.body['error_code'], removal.body['msg']]).toEqual([
    422,
    'insufficient_aal',
    'AAL2 required to unenroll verified factor',
  ]);
  expect(await subject.snapshot()).toBe(before);
  expect((await as(subject, low).put('/user', { data: { color: 'blue' } })).status).toBe(200);
  expect((await as(subject, high).put('/user', { password: 'another one' })).status).toBe(200);
  expect((await as(subject, high).post('/factors', { factor_type: 'totp' })).status).toBe(200);
});

test('what cannot be enrolled is refused, and nothing changed', async () => {
  const { session } = await signedUp(subject);
  await enrolled(subject, session, 'mine');
  const before = await subject.snapshot();
  const post = as(subject, session).post;
  for (const [body, status, code, msg] of [
    [{}, 400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
    [
      { factor_type: 'recovery_code' },
      400,
      'validation_failed',
      'factor_type needs to be totp, phone, or webauthn',
    ],
    [
      { factor_type: 'webauthn' },
      422,
      'mfa_webauthn_enroll_not_enabled',
      'MFA enroll is disabled for WebAuthn',
    ],
    [
      { factor_type: 'phone', phone: '+15551234567' },
      422,
      'mfa_phone_enroll_not_enabled',
      'MFA enroll is disabled for Phone',
    ],
    [
      { factor_type: 'totp', friendly_name: 'mine' },
      422,
      'mfa_factor_name_conflict',
      'A factor with the friendly name "mine" for this user already exists',
    ],
    [
      { factor_type: 'totp', issuer: 'x'.repeat(65) },
      400,
      'validation_failed',
      'issuer must be a text of at most 64 bytes',
    ],
    [
      { factor_type: 'totp', friendly_name: 'x'.repeat(256) },
      400,
      'validation_failed',
      'friendly_name must be a text of at most 255 bytes',
    ],
    [
      { factor_type: 'totp', issuer: '\ud800' },
      400,
      'validation_failed',
      'issuer must be a text of at most 64 bytes',
    ],
  ] as const) {
    const answer = await post('/factors', body);
    expect([answer.status, answer.body['error_code'], answer.body['msg']]).toEqual([status, code, msg]);
  }
  expect((await post('/factors', { factor_type: 5 })).status).toBe(400);
  expect((await post('/factors', { factor_type: 'totp', friendly_name: '\u0000' })).status).toBe(400);
  expect(await subject.snapshot()).toBe(before);
});

test('there are at most so many factors, and what waited too long for its first code makes room', async () => {
  const { session } = await signedUp(subject);
  for (let n = 0; n < 10; n++) await enrolled(subject, session, n === 0 ? 'first' : '');
  const tooMany = await as(subject, session).post('/factors', { factor_type: 'totp' });
  expect([tooMany.status, tooMany.body['error_code']]).toEqual([422, 'too_many_enrolled_mfa_factors']);
  subject.clock.advance(300_000);
  await enrolled(subject, session, 'first');
  const { factors } = (await subject.get('/user', bearer(session))).body;
  expect(factors).toHaveLength(1);
});

test('the longest names there can be still fit into the QR code', async () => {
  const { session, email } = await signedUp(subject);
  const long = `${'ä'.repeat(120)}@${'b'.repeat(60)}.example`;
  await subject.rows.autocommit().run`update :schema.users set email = ${long} where email = ${email}`;
  const answer = await as(subject, session).post('/factors', {
    factor_type: 'totp',
    issuer: '😀'.repeat(16),
  });
  expect(answer.status).toBe(200);
});

test('codes of apps can be switched off, for enrolment and for all', async () => {
  const environment = { AUTHSVC_MAILER_AUTOCONFIRM: 'true' };
  await using closed = await startSubject({ ...environment, AUTHSVC_MFA_TOTP_ENROLL_ENABLED: 'false' });
  const answer = await as(closed, (await signedUp(closed)).session).post('/factors', { factor_type: 'totp' });
  expect([answer.status, answer.body]).toEqual([
    422,
    { code: 422, error_code: 'mfa_totp_enroll_not_enabled', msg: 'MFA enroll is disabled for TOTP' },
  ]);
  await using off = await startSubject({ ...environment, AUTHSVC_MFA_TOTP_VERIFY_ENABLED: 'false' });
  const { session } = await signedUp(off);
  const factor = await enrolled(off, session);
  const challenge = await as(off, session).post(`/factors/${factor.id}/challenge`);
  expect([challenge.status, challenge.body['error_code']]).toEqual([422, 'mfa_totp_verify_not_enabled']);
});

test('a session of before does not know passwords better: signing in again shows less', async () => {
  const { email, factor } = await guarded(subject);
  const again = await subject.post('/token?grant_type=password', { email, password: PASSWORD });
  expect(claimsOf(subject, again)).toMatchObject({ aal: 'aal1' });
  expect(again.body.user).toMatchObject({ factors: [{ id: factor.id, status: 'verified' }] });
});
