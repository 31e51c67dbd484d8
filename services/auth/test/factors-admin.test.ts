import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, claimsOf, type Subject, startSubject } from './harness.ts';
import { bearerOf, serviceRole, signIn } from './support/administrators.ts';
import { as, asBearer, enrolled, guarded, signedUp, succeeded, verified } from './support/second-factors.ts';

// Second factors of others: for administrators, and in what else happens to an account.

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
});
afterAll(() => subject[Symbol.asyncDispose]());

const admin = (method: string, path: string, body?: object) =>
  subject.send(method, path, body && JSON.stringify(body), serviceRole(subject));
const said = ({ status, body }: Answer) => [status, body['error_code']];

test('an administrator sees, renames and takes away factors, and it is recorded as his', async () => {
  const { factor, high } = await guarded(subject);
  const path = `/admin/users/${high.body.user?.id}/factors`;
  const list = await admin('GET', path);
  const shown = {
    id: factor.id,
    factor_type: 'totp',
    status: 'verified',
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
    last_challenged_at: expect.stringMatching(/Z$/),
  };
  expect([list.status, JSON.parse(list.text)]).toEqual([200, [shown]]);
  const renamed = await admin('PUT', `${path}/${factor.id}`, {
    friendly_name: 'the old one',
    phone: '+15550001',
  });
  expect([renamed.status, renamed.body]).toEqual([200, { ...shown, friendly_name: 'the old one' }]);
  expect(JSON.parse((await admin('GET', path)).text)).toEqual([{ ...shown, friendly_name: 'the old one' }]);
  const gone = await admin('DELETE', `${path}/${factor.id}`);
  expect([gone.status, gone.body.id]).toEqual([200, factor.id]);
  expect(JSON.parse((await admin('GET', path)).text)).toEqual([]);
  expect((await subject.audit()).slice(-2)).toEqual(['factor_updated', 'factor_deleted']);
  // The session stays, and shows less.
  const next = await subject.post('/token?grant_type=refresh_token', {
    refresh_token: high.body.refresh_token,
  });
  expect(claimsOf(subject, next)).toMatchObject({ aal: 'aal1' });
});

test('what is not there is refused, and nothing changed', async () => {
  const { factor, high } = await guarded(subject);
  const other = await guarded(subject);
  await enrolled(subject, high, 'taken');
  const path = `/admin/users/${high.body.user?.id}/factors`;
  const before = await subject.snapshot();
  for (const id of [other.factor.id, randomUUID(), 'x']) {
    for (const method of ['PUT', 'DELETE']) {
      const answer = await admin(
        method,
        `${path}/${id}`,
        method === 'PUT' ? { friendly_name: 'y' } : undefined,
      );
      expect(said(answer)).toEqual([404, 'mfa_factor_not_found']);
    }
  }
  expect(said(await admin('GET', `/admin/users/${randomUUID()}/factors`))).toEqual([404, 'user_not_found']);
  expect(said(await admin('GET', '/admin/users/x/factors'))).toEqual([404, 'validation_failed']);
  expect(said(await admin('PUT', `${path}/${factor.id}`, { friendly_name: 'taken' }))).toEqual([
    422,
    'mfa_factor_name_conflict',
  ]);
  expect(said(await admin('PUT', `${path}/${factor.id}`, { friendly_name: 'x'.repeat(256) }))).toEqual([
    400,
    'validation_failed',
  ]);
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const target = method === 'GET' ? path : `${path}/${factor.id}`;
    const body = method === 'PUT' ? '{}' : undefined;
    expect((await subject.send(method, target, body, bearer(high))).status).toBe(403);
  }
  expect(await subject.snapshot()).toBe(before);
});

test('who lost a factor that a thief had locked begins anew after an administrator took it away', async () => {
  const { email, factor, low } = await guarded(subject);
  for (let n = 0; n < 5; n++) await verified(subject, low, factor.id, factor.wrong());
  const path = `/admin/users/${low.body.user?.id}/factors/${factor.id}`;
  expect((await admin('DELETE', path)).status).toBe(200);
  const session = succeeded(await signIn(subject, email));
  const next = await enrolled(subject, session);
  expect((await verified(subject, session, next.id, next.wrong())).status).toBe(422);
  expect((await verified(subject, session, next.id, next.code())).status).toBe(200);
});

test('factors go with their user, softly deleted or not', async () => {
  for (const soft of [true, false]) {
    const { high } = await guarded(subject);
    const id = high.body.user?.id;
    await as(subject, high).post('/factors/recovery-codes');
    expect((await admin('DELETE', `/admin/users/${id}`, { should_soft_delete: soft })).status).toBe(200);
    const left = await subject.rows.autocommit()
      .rows`select from :schema.mfa_factors where user_id = ${id}::uuid`;
    expect(left).toEqual([]);
  }
});

test('old challenges and factors nobody proved are swept out, and those in use are not', async () => {
  const { cleanUp } = await import('../src/cleanup/clean-up.ts');
  const { session } = await signedUp(subject);
  await enrolled(subject, session);
  const { factor, low } = await guarded(subject);
  await as(subject, low).post(`/factors/${factor.id}/challenge`);
  const affected: string[] = [];
  const sweep = () =>
    cleanUp(subject.context.database, subject.context.settings, (table) => affected.push(table));
  await sweep();
  const { factors } = (await subject.get('/user', bearer(session))).body;
  expect(factors).toHaveLength(1);
  subject.clock.advance(24 * 3_600_000 + 1);
  await sweep();
  expect(affected).toEqual(expect.arrayContaining(['mfa_challenges', 'mfa_factors']));
  const left = await subject.rows.autocommit().rows<{
    status: string;
  }>`select distinct status from :schema.mfa_factors`;
  expect(left).toEqual([{ status: 'verified' }]);
  const users = await subject.rows.autocommit().rows`
    select from :schema.users where factors @> '[{"status": "unverified"}]'`;
  expect(users).toEqual([]);
});

test('a session that may be low for so long ends, unless it showed the factor', async () => {
  await using limited = await startSubject({
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SESSIONS_ALLOW_LOW_AAL: '10m',
  });
  const { session: plain } = await signedUp(limited);
  expect(plain.body['expires_in']).toBe(3600);
  const { email, factor, high, low } = await guarded(limited);
  expect([low.body['expires_in'], high.body['expires_in']]).toEqual([600, 3600]);
  const refresh = (session: Answer) =>
    limited.post('/token?grant_type=refresh_token', { refresh_token: session.body.refresh_token });
  limited.clock.advance(60_000);
  const next = await refresh(low);
  expect([next.status, next.body['expires_in']]).toEqual([200, 540]);
  const listed = async () =>
    ((await limited.get('/user/sessions', bearer(high))).body['sessions'] as object[]).length;
  expect(await listed()).toBe(2);
  limited.clock.advance(540_000);
  const before = await limited.snapshot();
  const refused = await refresh(next);
  expect([refused.status, refused.body]).toEqual([
    400,
    {
      code: 400,
      error_code: 'session_expired',
      msg: 'Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)',
    },
  ]);
  expect(await limited.snapshot()).toBe(before);
  expect(await listed()).toBe(1);
  expect([(await refresh(high)).status, (await refresh(plain)).status]).toEqual([200, 200]);
  const again = succeeded(await signIn(limited, email));
  expect((await verified(limited, again, factor.id, factor.code())).body['expires_in']).toBe(3600);
});

test('attack: an administrator’s password alone administrates nothing where there is a second factor', async () => {
  const { email, factor, high, low } = await guarded(subject);
  const id = String(high.body.user?.id);
  await subject.rows.autocommit().run`update :schema.users set role = 'service_role' where id = ${id}::uuid`;
  const password = succeeded(await signIn(subject, email));
  expect(claimsOf(subject, password)).toMatchObject({ role: 'service_role', aal: 'aal1' });
  const before = await subject.snapshot();
  const path = `/admin/users/${id}`;
  const attempts = [
    await as(subject, password).delete(`${path}/factors/${factor.id}`),
    await as(subject, password).put(path, { password: 'of a thief' }),
    await as(subject, password).get('/admin/users'),
    await as(subject, password).put('/user', { app_metadata: { plan: 'stolen' } }),
    // One that says more than its session showed is worth no more.
    await asBearer(subject, bearerOf(subject, { ...claimsOf(subject, password), aal: 'aal2' })).get(path),
  ];
  expect(attempts.map(said)).toEqual(attempts.map(() => [403, 'insufficient_aal']));
  expect(await subject.snapshot()).toBe(before);
  // Whose token is from before the role is nobody still.
  expect(said(await as(subject, low).get(path))).toEqual([403, 'not_admin']);

  const proven = succeeded(await verified(subject, password, factor.id, factor.code()));
  expect(said(await as(subject, proven).get(path))).toEqual([200, undefined]);
  expect(said(await as(subject, proven).delete(`${path}/factors/${factor.id}`))).toEqual([200, undefined]);
  // The session fell back with the factor, and there is nothing left to show.
  expect(said(await as(subject, proven).get(path))).toEqual([200, undefined]);
});
