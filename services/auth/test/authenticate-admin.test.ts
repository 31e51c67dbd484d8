import { randomUUID } from 'node:crypto';
import { type AccessTokenClaims, accessTokens } from '@croft/access-token';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticateAdmin } from '../src/caller/authenticate-admin.ts';
import {
  type Answer,
  bearer,
  claimsOf,
  confirmedUser,
  JWT_SECRET,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject();
});
afterAll(() => subject[Symbol.asyncDispose]());

const sign = (claims: AccessTokenClaims, secret = JWT_SECRET): string => {
  const now = () => subject.clock.now().getTime();
  return `Bearer ${accessTokens(secret, now).sign({ exp: Math.floor(now() / 1000) + 3600, ...claims })}`;
};
const authenticate = (authorization: string | undefined) => authenticateAdmin(subject.context, authorization);

/** Somebody whose role administrates, with a session. */
async function administrator(): Promise<{ id: string; sessionId: string; authorization: string }> {
  const email = someone('admin');
  const { body } = await confirmedUser(subject, email);
  await subject.rows.autocommit().run`update :schema.users set role = 'service_role' where email = ${email}`;
  const session = await subject.post('/token?grant_type=password', { email, password: PASSWORD });
  return {
    id: body.user?.id ?? '',
    sessionId: claimsOf(subject, session).session_id ?? '',
    authorization: `Bearer ${session.body.access_token}`,
  };
}

describe('accepted', () => {
  test.each(['service_role', 'supabase_admin'])(
    'a token for %s without a user, at no round trip',
    async (role) => {
      let answer: unknown;
      const trips = await subject.countRoundTrips(async () => {
        answer = await authenticate(sign({ role }));
      });
      expect(answer).toEqual({ role, sub: undefined, sessionId: undefined });
      expect(trips).toBe(0);
    },
  );

  test.each(['', '1234567890', '00000000-0000-0000-0000-000000000000', randomUUID()])(
    'one whose subject is nobody: %j',
    async (sub) => {
      expect(await authenticate(sign({ role: 'service_role', sub }))).toEqual({
        role: 'service_role',
        sub: undefined,
        sessionId: undefined,
      });
    },
  );

  test('a signed-in administrator, at one round trip', async () => {
    const { id, sessionId, authorization } = await administrator();
    let answer: unknown;
    const trips = await subject.countRoundTrips(async () => {
      answer = await authenticate(authorization);
    });
    expect(answer).toEqual({ role: 'service_role', sub: id, sessionId });
    expect(trips).toBe(1);
  });

  test('a token made by hand that speaks of a user, and the scheme in any case', async () => {
    const { id } = await administrator();
    const authorization = sign({ role: 'service_role', sub: id }).replace('Bearer', 'bearer');
    expect(await authenticate(authorization)).toEqual({
      role: 'service_role',
      sub: id,
      sessionId: undefined,
    });
  });
});

describe('refused, in the order of §3.3', () => {
  const missing = { kind: 'unauthenticated', code: 'no_authorization' };
  const notAdmin = { kind: 'forbidden', code: 'not_admin', message: 'User not allowed' };
  test.each<[string, () => string | undefined, object]>([
    ['no header', () => undefined, missing],
    ['an empty one', () => '', missing],
    ['another scheme', () => sign({ role: 'service_role' }).replace('Bearer', 'Basic'), missing],
    ['text after the token', () => `${sign({ role: 'service_role' })} x`, missing],
    ['garbage', () => 'Bearer garbage', { kind: 'forbidden', code: 'bad_jwt' }],
    ['another secret', () => sign({ role: 'service_role' }, 'another secret'), { code: 'bad_jwt' }],
    ['an expired one', () => sign({ role: 'service_role', exp: 1 }), { code: 'bad_jwt' }],
    ['no role', () => sign({}), notAdmin],
    ['an empty role', () => sign({ role: '' }), notAdmin],
    ['the role of users', () => sign({ role: 'authenticated', sub: randomUUID() }), notAdmin],
    ['anon', () => sign({ role: 'anon' }), notAdmin],
    ['the group of administrators, which permits nothing by itself', () => sign({ role: 'admin' }), notAdmin],
    ['a role with other letters', () => sign({ role: 'Service_Role' }), notAdmin],
    [
      'a role in the metadata',
      () => sign({ role: 'authenticated', app_metadata: { role: 'service_role' } }),
      notAdmin,
    ],
    [
      'a session that is no UUID',
      () => sign({ role: 'service_role', sub: randomUUID(), session_id: 'x' }),
      { code: 'bad_jwt', message: 'invalid claim: session_id claim must be a UUID' },
    ],
    [
      'a session of nobody',
      () => sign({ role: 'service_role', session_id: randomUUID() }),
      { code: 'session_expired', message: 'Session is no longer valid' },
    ],
    [
      'a session of a user who does not exist',
      () => sign({ role: 'service_role', sub: randomUUID(), session_id: randomUUID() }),
      { code: 'user_not_found', message: 'User from sub claim in JWT does not exist' },
    ],
  ])('%s', async (_name, authorization, expected) => {
    const before = await subject.snapshot();
    await expect(authenticate(authorization())).rejects.toMatchObject(expected);
    expect(await subject.snapshot()).toBe(before);
  });

  test.each<[string, object, object]>([
    ['who was banned', { banned_until: 'infinity' }, { code: 'user_banned' }],
    ['who was deleted', { deleted_at: '2020-01-01T00:00:00Z' }, { code: 'user_not_found' }],
    ['who lost the role', { role: 'authenticated' }, { code: 'not_admin' }],
  ])('an administrator %s, however long the token lives', async (_name, change, expected) => {
    const { id, authorization } = await administrator();
    expect(await authenticate(authorization)).toMatchObject({ sub: id });
    await subject.rows.autocommit().run`
      update :schema.users u set role = n.role, banned_until = n.banned_until, deleted_at = n.deleted_at
      from :schema.users o, jsonb_populate_record(o, ${JSON.stringify(change)}::jsonb) n
      where u.id = ${id}::uuid and o.id = u.id`;
    await expect(authenticate(authorization)).rejects.toMatchObject(expected);
  });

  test('a banned one by a token without a session, too', async () => {
    const { id } = await administrator();
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where id = ${id}::uuid`;
    const byHand = sign({ role: 'service_role', sub: id });
    await expect(authenticate(byHand)).rejects.toMatchObject({ code: 'user_banned' });
  });

  test('one who signed out, and one whose session is over', async () => {
    const expired = { code: 'session_expired', message: 'Session is no longer valid' };
    const gone = await administrator();
    await subject.post('/logout', undefined, { authorization: gone.authorization });
    await expect(authenticate(gone.authorization)).rejects.toMatchObject(expired);
    const over = await administrator();
    await subject.rows.autocommit().run`
      update :schema.sessions set not_after = ${subject.clock.now()} where id = ${over.sessionId}::uuid`;
    await expect(authenticate(over.authorization)).rejects.toMatchObject(expired);
  });

  test('one whose refresh tokens were stolen', async () => {
    const { sessionId, authorization } = await administrator();
    await subject.rows.autocommit().run`
      update :schema.refresh_tokens set revoked_at = ${subject.clock.now()} where session_id = ${sessionId}::uuid`;
    await expect(authenticate(authorization)).rejects.toMatchObject({ code: 'session_expired' });
  });

  test.each(['TIMEBOX', 'INACTIVITY_TIMEOUT'])('one whose session is past SESSIONS_%s', async (limit) => {
    await using limited = await startSubject({ [`AUTHSVC_SESSIONS_${limit}`]: '10m' });
    const email = someone('admin');
    await confirmedUser(limited, email);
    await limited.rows.autocommit()
      .run`update :schema.users set role = 'service_role' where email = ${email}`;
    const session = await limited.post('/token?grant_type=password', { email, password: PASSWORD });
    const authorization = `Bearer ${session.body.access_token}`;
    limited.clock.advance(9 * 60_000);
    expect((await limited.get('/admin/users', { authorization })).status).toBe(200);
    limited.clock.advance(60_000);
    const answer = await limited.get('/admin/users', { authorization });
    expect([answer.status, answer.body['error_code']]).toEqual([403, 'session_expired']);
  });

  test('one who signed in elsewhere since, where one session is all there may be', async () => {
    await using single = await startSubject({
      AUTHSVC_SESSIONS_SINGLE_PER_USER: 'true',
      AUTHSVC_SESSIONS_TAGS: 'web,mobile',
    });
    const email = someone('admin');
    await confirmedUser(single, email);
    await single.rows.autocommit().run`update :schema.users set role = 'service_role' where email = ${email}`;
    const signIn = async () => {
      single.clock.advance(1000);
      return await single.post('/token?grant_type=password', { email, password: PASSWORD });
    };
    const ask = (session: Answer) => single.get('/admin/users', bearer(session));
    const [lost, own] = [await signIn(), await signIn()];
    const before = await single.snapshot();
    const refused = await ask(lost);
    expect([refused.status, refused.body['error_code']]).toEqual([403, 'session_expired']);
    const user = JSON.stringify({ role: 'service_role' });
    const path = `/admin/users/${String(own.body.user?.id)}`;
    expect((await single.send('PUT', path, user, bearer(lost))).status).toBe(403);
    expect(await single.snapshot()).toBe(before);
    expect((await ask(own)).status).toBe(200);
    // Nor does it cost more to look.
    const authorization = bearer(own)['authorization'];
    expect(await single.countRoundTrips(() => authenticateAdmin(single.context, authorization))).toBe(1);
    // One on a device of another kind ends none, nor does one that was signed out.
    const mobile = await signIn();
    await single.rows.autocommit()
      .run`update :schema.sessions set tag = 'mobile' where id = ${claimsOf(single, mobile).session_id}::uuid`;
    await single.post('/logout?scope=local', undefined, bearer(await signIn()));
    expect([(await ask(own)).status, (await ask(mobile)).status]).toEqual([200, 200]);
    // Tokens for a role have no session that another one could follow.
    const nowMs = single.clock.now().getTime();
    const byHand = sign({ role: 'service_role', exp: Math.floor(nowMs / 1000) + 600 });
    expect((await single.get('/admin/users', { authorization: byHand })).status).toBe(200);
  });

  test("a token with somebody else's session", async () => {
    const [one, other] = [await administrator(), await administrator()];
    const stolen = sign({ role: 'service_role', sub: one.id, session_id: other.sessionId });
    await expect(authenticate(stolen)).rejects.toMatchObject({ code: 'session_expired' });
  });
});

describe('the operator of multi-instance mode', () => {
  const OPERATOR_TOKEN = 'what-only-the-operator-knows';
  let operated: Subject;
  beforeAll(async () => {
    operated = await startSubject({ AUTHSVC_OPERATOR_TOKEN: OPERATOR_TOKEN });
  });
  afterAll(() => operated[Symbol.asyncDispose]());

  test('is verified when a request says it comes by way of it', async () => {
    const by = (token: string) => operated.get('/settings', { 'x-operator-token': token });
    expect((await by(OPERATOR_TOKEN)).status).toBe(200);
    for (const wrong of ['', 'x', OPERATOR_TOKEN.slice(1), `${OPERATOR_TOKEN}x`]) {
      const answer = await by(wrong);
      expect([answer.status, answer.body['error_code']]).toEqual([401, 'no_authorization']);
    }
  });

  test('others are served as ever, and its token opens nothing', async () => {
    expect((await operated.get('/settings')).status).toBe(200);
    const answer = await operated.get('/user', {
      'x-operator-token': OPERATOR_TOKEN,
      authorization: `Bearer ${OPERATOR_TOKEN}`,
    });
    expect([answer.status, answer.body['error_code']]).toEqual([403, 'bad_jwt']);
  });

  test('without OPERATOR_TOKEN the header means nothing', async () => {
    expect((await subject.get('/settings', { 'x-operator-token': 'x' })).status).toBe(200);
  });
});
