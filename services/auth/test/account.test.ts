import { randomUUID } from 'node:crypto';
import { type AccessTokenClaims, accessTokens } from '@croft/access-token';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
let session: Answer;
beforeAll(async () => {
  subject = await startSubject();
  session = await confirmedUser(subject);
});
afterAll(() => subject[Symbol.asyncDispose]());

/** A token signed as the service would, saying what the test wants. */
function tokenSaying(changes: AccessTokenClaims & Record<string, unknown>): Record<string, string> {
  const claims = { ...claimsOf(subject, session), ...changes };
  return { authorization: `Bearer ${accessTokens(JWT_SECRET).sign(claims)}` };
}

describe('GET /user', () => {
  test("answers the caller's own account", async () => {
    const answer = await subject.get('/user', bearer(session));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(session.body.user);
    expect(answer.text).not.toContain('password');
  });

  test('the scheme is compared without case', async () => {
    const headers = { authorization: `bEARER ${session.body.access_token}` };
    expect((await subject.get('/user', headers)).status).toBe(200);
  });

  test.each([
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['no token', { authorization: 'Bearer ' }],
    ['text after the token', { authorization: 'Bearer a b' }],
  ])('%s → 401', async (_name, headers) => {
    expect((await subject.get('/user', headers as Record<string, string>)).body).toEqual({
      code: 401,
      error_code: 'no_authorization',
      msg: 'This endpoint requires a valid Bearer token',
    });
  });

  test.each([
    ['no sub', { sub: '' }, 403, 'bad_jwt', 'invalid claim: missing sub claim'],
    ['sub no UUID', { sub: 'x' }, 400, 'bad_jwt', 'invalid claim: sub claim must be a UUID'],
    [
      'session no UUID',
      { session_id: 'x' },
      403,
      'bad_jwt',
      'invalid claim: session_id claim must be a UUID',
    ],
    ['user gone', { sub: randomUUID() }, 403, 'user_not_found', 'User from sub claim in JWT does not exist'],
    [
      'session gone',
      { session_id: randomUUID() },
      403,
      'session_not_found',
      'Session from session_id claim in JWT does not exist',
    ],
  ])('%s → %o %i %s', async (_name, claims, status, error_code, msg) => {
    const answer = await subject.get('/user', tokenSaying(claims));
    expect(answer.body).toEqual({ code: status, error_code, msg });
  });

  test.each(['', '00000000-0000-0000-0000-000000000000'])(
    'a token with session "%s" has none',
    async (session_id) => {
      expect((await subject.get('/user', tokenSaying({ session_id }))).status).toBe(200);
    },
  );

  test("another user's session is as good as none", async () => {
    const other = await confirmedUser(subject, someone('other'));
    const answer = await subject.get(
      '/user',
      tokenSaying({ session_id: claimsOf(subject, other).session_id as string }),
    );
    expect(answer.body).toMatchObject({ error_code: 'session_not_found' });
  });

  test('a banned user is told so', async () => {
    const banned = await confirmedUser(subject, someone('banned'));
    const id = banned.body.user?.id;
    await subject.rows.autocommit()
      .run`update :schema.users set banned_until = 'infinity' where id = ${id}::uuid`;
    expect((await subject.get('/user', bearer(banned))).body).toEqual({
      code: 403,
      error_code: 'user_banned',
      msg: 'User is banned',
    });
  });

  test('another audience than the token has', async () => {
    const answer = await subject.get('/user', { ...bearer(session), 'x-jwt-aud': 'another' });
    expect(answer.body).toEqual({
      code: 400,
      error_code: 'validation_failed',
      msg: "Token audience doesn't match request audience",
    });
  });
});

describe('POST /logout', () => {
  async function threeSessions() {
    const email = someone();
    const first = await confirmedUser(subject, email);
    const signIn = () => subject.post('/token?grant_type=password', { email, password: PASSWORD });
    return [first, await signIn(), await signIn()] as const;
  }
  const alive = async (sessions: readonly Answer[]) =>
    (await Promise.all(sessions.map((one) => subject.get('/user', bearer(one))))).map(
      ({ status }) => status === 200,
    );

  test.each([
    ['', [false, false, false]],
    ['?scope=global', [false, false, false]],
    ['?scope=local', [false, true, true]],
    ['?scope=others', [true, false, false]],
  ])('%s leaves %j', async (query, expected) => {
    const sessions = await threeSessions();
    const bystander = await confirmedUser(subject, someone('bystander'));
    const auditBefore = (await subject.audit()).length;
    const answer = await subject.post(`/logout${query}`, undefined, bearer(sessions[0]));
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await alive(sessions)).toEqual(expected);
    expect(await alive([bystander])).toEqual([true]);
    expect((await subject.audit()).slice(auditBefore)).toEqual(['logout']);
    const refreshed = await Promise.all(
      sessions.map(({ body }) =>
        subject.post('/token?grant_type=refresh_token', { refresh_token: body.refresh_token }),
      ),
    );
    expect(refreshed.map(({ status }) => status === 200)).toEqual(expected);
  });

  test('a second time the session is gone', async () => {
    const [first] = await threeSessions();
    await subject.post('/logout', undefined, bearer(first));
    const again = await subject.post('/logout', undefined, bearer(first));
    expect(again.body).toMatchObject({ code: 403, error_code: 'session_not_found' });
  });

  test('a token without a session always ends all', async () => {
    const sessions = await threeSessions();
    const claims = { ...claimsOf(subject, sessions[0]), session_id: '' };
    const headers = { authorization: `Bearer ${accessTokens(JWT_SECRET).sign(claims)}` };
    expect((await subject.post('/logout?scope=others', undefined, headers)).status).toBe(204);
    expect(await alive(sessions)).toEqual([false, false, false]);
  });

  test.each(['everything', 'constructor'])('scope %s is unknown, and nothing changed', async (scope) => {
    const before = await subject.snapshot();
    const answer = await subject.post(`/logout?scope=${scope}`, undefined, bearer(session));
    expect(answer.body).toEqual({
      code: 400,
      error_code: 'validation_failed',
      msg: `Unsupported logout scope "${scope}"`,
    });
    expect(await subject.snapshot()).toBe(before);
  });

  test('needs a token', async () => {
    expect((await subject.post('/logout')).body).toMatchObject({ code: 401, error_code: 'no_authorization' });
  });
});
