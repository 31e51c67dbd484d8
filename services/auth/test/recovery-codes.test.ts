import { AuthClient } from '@supabase/auth-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, PASSWORD, type Subject, startSubject } from './harness.ts';
import { serviceRole, signIn } from './support/administrators.ts';
import { as, enrolled, guarded, signedUp, succeeded, verified } from './support/second-factors.ts';

// Codes for whoever has lost the other factor, in the form that the client library has methods for.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

const PATH = '/factors/recovery-codes';
const said = ({ status, body }: Answer) => [status, body['error_code']];
const codesOf = (answer: Answer) => succeeded(answer).body['codes'] as string[];
const enter = (session: Answer, code: unknown) => as(subject, session).post(`${PATH}/verify`, { code });
async function refused(request: () => Promise<Answer>): Promise<unknown[]> {
  const before = await subject.snapshot();
  const answer = await request();
  expect(await subject.snapshot()).toBe(before);
  return said(answer);
}

test('ten codes are made and shown once; the tables do not have them, answers tell how many are left', async () => {
  const { high } = await guarded(subject);
  const answer = await as(subject, high).post(PATH, { friendly_name: 'drawer' });
  expect(answer.headers['cache-control']).toBe('no-store');
  const codes = codesOf(answer);
  expect(answer.body).toEqual({
    id: expect.any(String),
    type: 'recovery_code',
    friendly_name: 'drawer',
    total: 10,
    codes: Array(10).fill(expect.stringMatching(/^[0-9a-hjkmnp-tv-z]{16}$/)),
  });
  expect(new Set(codes).size).toBe(10);
  const rows = await subject.snapshot();
  for (const code of codes) expect(rows).not.toContain(code);
  const count = await as(subject, high).get(PATH);
  expect(count.body).toEqual({ id: answer.body.id, type: 'recovery_code', total: 10, remaining: 10 });
});

test('only a client that knows the type is shown it among the factors: to others `listFactors()` would fail', async () => {
  const { email, high } = await guarded(subject);
  codesOf(await as(subject, high).post(PATH));
  const admin = serviceRole(subject);
  const { id } = (await subject.get('/user', bearer(high))).body;
  const shownTo = async (client?: string) => {
    const info: Record<string, string> = client === undefined ? {} : { 'x-client-info': client };
    const session = await subject.post('/token?grant_type=password', { email, password: PASSWORD }, info);
    const users = [
      (await subject.get('/user', { ...bearer(high), ...info })).body,
      session.body.user,
      (await subject.get(`/admin/users/${id}`, { ...admin, ...info })).body,
      ...((await subject.get(`/admin/users?filter=${email}`, { ...admin, ...info })).body[
        'users'
      ] as object[]),
    ] as { factors: { factor_type: string }[] }[];
    return users.map(({ factors }) => factors.map((factor) => factor.factor_type));
  };
  for (const client of [undefined, 'gotrue-js/2.115.0', 'supabase-py/2.28.0']) {
    expect(await shownTo(client)).toEqual(Array(4).fill(['totp']));
  }
  expect(await shownTo('gotrue-js/2.116.0')).toEqual(Array(4).fill(['totp', 'recovery_code']));
  // Their owner has them all the same, and so has an administrator.
  expect((await as(subject, high).get(PATH)).body).toMatchObject({ total: 10 });
  const { body } = await subject.get(`/admin/users/${id}/factors`, admin);
  expect(body).toMatchObject([{ factor_type: 'totp' }, { factor_type: 'recovery_code', status: 'verified' }]);
});

test('a code raises the session like another factor, once; case, blanks and dashes do not matter', async () => {
  const { email, high } = await guarded(subject);
  const [code = '', other = ''] = codesOf(await as(subject, high).post(PATH));
  const low = succeeded(await signIn(subject, email));
  const typed = ` ${code.slice(0, 4)}-${code.slice(4, 8)} ${code.slice(8)} `.toUpperCase();
  const raised = await enter(low, typed);
  expect(raised.status).toBe(200);
  expect(claimsOf(subject, raised)).toMatchObject({
    aal: 'aal2',
    session_id: claimsOf(subject, low)['session_id'],
    amr: [{ method: 'mfa/recovery_code' }, { method: 'password' }],
  });
  expect((await as(subject, raised).get(PATH)).body).toMatchObject({ total: 10, remaining: 9 });
  const again = succeeded(await signIn(subject, email));
  expect(said(await enter(again, code))).toEqual([422, 'mfa_verification_failed']);
  expect((await enter(again, other)).status).toBe(200);
  // With it whoever lost the app takes its factor away.
  const [factor] = (await subject.get('/user', bearer(raised))).body['factors'] as { id: string }[];
  expect((await as(subject, raised).delete(`/factors/${factor?.id}`)).status).toBe(200);
});

test('of many requests with the same code at the same moment one gets it', async () => {
  const { email, high } = await guarded(subject);
  const [code] = codesOf(await as(subject, high).post(PATH));
  const low = succeeded(await signIn(subject, email));
  const answers = await Promise.all(Array.from({ length: 16 }, () => enter(low, code)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(15);
  expect((await as(subject, high).get(PATH)).body).toMatchObject({ remaining: 9 });
});

test('new codes take the place of the old ones', async () => {
  const { email, high } = await guarded(subject);
  const [old] = codesOf(await as(subject, high).post(PATH));
  const { id } = (await as(subject, high).get(PATH)).body;
  const answer = await as(subject, high).post(`${PATH}/regenerate`);
  expect(answer.body).toMatchObject({
    id,
    type: 'recovery_code',
    friendly_name: 'Recovery codes',
    total: 10,
  });
  const [fresh] = codesOf(answer);
  const low = succeeded(await signIn(subject, email));
  expect(said(await enter(low, old))).toEqual([422, 'mfa_verification_failed']);
  expect((await enter(low, fresh)).status).toBe(200);
});

test('they are made beside another factor, by a session that showed it, and once', async () => {
  const { session } = await signedUp(subject);
  await enrolled(subject, session);
  const alone = [422, 'mfa_recovery_codes_sole_factor'];
  expect(await refused(() => as(subject, session).post(PATH))).toEqual(alone);
  const { high, low } = await guarded(subject);
  for (const path of [PATH, `${PATH}/regenerate`]) {
    expect(await refused(() => as(subject, low).post(path))).toEqual([403, 'insufficient_aal']);
  }
  const none = [404, 'mfa_factor_not_found'];
  expect(await refused(() => as(subject, high).post(`${PATH}/regenerate`))).toEqual(none);
  expect(await refused(() => as(subject, high).get(PATH))).toEqual(none);
  expect(await refused(() => as(subject, high).delete(PATH))).toEqual(none);
  expect(await refused(() => enter(low, 'abcd'))).toEqual([422, 'mfa_verification_failed']);
  expect(await refused(() => enter(low, ' - '))).toEqual([400, 'validation_failed']);
  codesOf(await as(subject, high).post(PATH));
  expect(await refused(() => as(subject, high).post(PATH))).toEqual([422, 'mfa_verified_factor_exists']);
  expect(await refused(() => as(subject, low).delete(PATH))).toEqual([422, 'insufficient_aal']);
  const { id } = (await as(subject, high).get(PATH)).body;
  expect(await refused(() => as(subject, high).post(`/factors/${id}/challenge`))).toEqual([
    400,
    'validation_failed',
  ]);
  expect((await as(subject, high).delete(PATH)).body).toEqual({ id });
  expect(await refused(() => as(subject, high).get(PATH))).toEqual(none);
});

test('they do not stay alone: with the last other factor they go, and so does the level they gave', async () => {
  const { email, factor, high } = await guarded(subject);
  const [code] = codesOf(await as(subject, high).post(PATH));
  const raised = succeeded(await enter(succeeded(await signIn(subject, email)), code));
  expect((await as(subject, high).delete(`/factors/${factor.id}`)).status).toBe(200);
  expect((await subject.get('/user', bearer(raised))).body).not.toHaveProperty('factors');
  const next = await subject.post('/token?grant_type=refresh_token', {
    refresh_token: raised.body.refresh_token,
  });
  expect(claimsOf(subject, next)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] });
});

test('attack: a code of somebody else is none', async () => {
  const [mine, theirs] = [await guarded(subject), await guarded(subject)];
  const [code] = codesOf(await as(subject, theirs.high).post(PATH));
  codesOf(await as(subject, mine.high).post(PATH));
  expect(said(await enter(mine.low, code))).toEqual([422, 'mfa_verification_failed']);
  expect((await as(subject, theirs.high).get(PATH)).body).toMatchObject({ remaining: 10 });
});

test('a thief who locked the app’s codes does not take this way from the owner', async () => {
  const { email, factor, high } = await guarded(subject);
  const [code] = codesOf(await as(subject, high).post(PATH));
  for (let n = 0; n < 5; n++) {
    const thief = succeeded(await signIn(subject, email));
    expect((await verified(subject, thief, factor.id, factor.wrong())).status).toBe(422);
  }
  const low = succeeded(await signIn(subject, email));
  expect((await verified(subject, low, factor.id, factor.code())).status).toBe(429);
  expect((await enter(low, code)).status).toBe(200);
});

test('every request takes at most two round trips', async () => {
  const { high, low } = await guarded(subject);
  const trips = (work: () => Promise<unknown>) => subject.countRoundTrips(work);
  let codes: string[] = [];
  expect(
    await trips(async () => {
      codes = codesOf(await as(subject, high).post(PATH));
    }),
  ).toBe(2);
  expect(await trips(() => as(subject, high).get(PATH))).toBe(1);
  expect(await trips(() => enter(low, 'wrong'))).toBe(2);
  expect(await trips(async () => succeeded(await enter(low, codes[0])))).toBe(2);
  expect(await trips(() => as(subject, high).post(`${PATH}/regenerate`))).toBe(2);
});

test('switched off, there are none to make or to enter', async () => {
  await using off = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_MFA_RECOVERY_CODES_ENABLED: 'false',
  });
  const { high } = await guarded(off);
  expect(said(await as(off, high).post(PATH))).toEqual([422, 'mfa_recovery_codes_enroll_not_enabled']);
  expect(said(await as(off, high).post(`${PATH}/verify`, { code: 'x' }))).toEqual([
    422,
    'mfa_recovery_codes_verify_not_enabled',
  ]);
});

test('the client library drives factors and recovery codes from end to end', async () => {
  const { email } = await signedUp(subject);
  const client = new AuthClient({
    url: 'https://auth.example',
    autoRefreshToken: false,
    persistSession: false,
    experimental: { recoveryCodes: true },
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url instanceof Request ? url.url : url);
      const headers = Object.fromEntries(new Headers(init?.headers).entries());
      const body = typeof init?.body === 'string' ? init.body : undefined;
      const answer = await subject.send(init?.method ?? 'GET', pathname + search, body, headers);
      return new Response(answer.status === 204 ? null : answer.text, {
        status: answer.status,
        headers: {
          'content-type': 'application/json',
          // By it the library knows where an error has its code.
          'x-supabase-api-version': String(answer.headers['x-supabase-api-version']),
        },
      });
    },
  });
  await client.signInWithPassword({ email, password: 'correct horse' });
  const enrolment = await client.mfa.enroll({ factorType: 'totp', friendlyName: 'app' });
  if (enrolment.data === null || enrolment.data.type !== 'totp') throw new Error('no factor');
  expect(enrolment.data.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg/);
  const { app } = await import('./support/second-factors.ts');
  const { code } = app(subject, enrolment.data.totp.secret);
  const factorId = enrolment.data.id;
  const raised = await client.mfa.challengeAndVerify({ factorId, code: code() });
  expect(raised.error).toBeNull();
  const level = await client.mfa.getAuthenticatorAssuranceLevel(raised.data?.access_token);
  expect(level.data).toMatchObject({ currentLevel: 'aal2', nextLevel: 'aal2' });

  const { recoveryCodes } = client.mfa;
  const made = await recoveryCodes.generate({ friendlyName: 'drawer' });
  const { id } = made.data ?? {};
  expect((await recoveryCodes.getStatus()).data).toMatchObject({ id, total: 10, remaining: 10 });
  await client.signInWithPassword({ email, password: 'correct horse' });
  const entered = await recoveryCodes.verify({ code: made.data?.codes[0] ?? '' });
  expect([entered.error, entered.data?.user.factors?.length]).toEqual([null, 2]);
  expect((await client.mfa.listFactors()).data).toMatchObject({
    totp: [{ id: factorId, friendly_name: 'app' }],
    recovery_code: [{ id, friendly_name: 'drawer' }],
  });
  expect((await recoveryCodes.regenerate()).data).toMatchObject({ id, total: 10 });
  expect((await recoveryCodes.unenroll()).data).toEqual({ id });
  // The session had shown a code of the set; now it has to show the app.
  expect((await client.mfa.unenroll({ factorId })).error?.code).toBe('insufficient_aal');
  subject.clock.advance(30_000);
  expect((await client.mfa.challengeAndVerify({ factorId, code: code() })).error).toBeNull();
  expect((await client.mfa.unenroll({ factorId })).data).toEqual({ id: factorId });
  expect((await client.mfa.listFactors()).data?.all).toEqual([]);
});
