import { randomUUID } from 'node:crypto';
import { type AccessTokenClaims, accessTokens } from '@croft/access-token';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  bearer,
  claimsOf,
  codeIn,
  confirmedUser,
  JWT_SECRET,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { mailsTo, newestTo } from './support/mailbox.ts';

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

describe('PUT /user', () => {
  const DAY = 86_400_000;
  const put = (session: Answer, body: object, on = subject) =>
    on.send('PUT', '/user', JSON.stringify(body), bearer(session));
  const signIn = (email: string, password: string, on = subject) =>
    on.post('/token?grant_type=password', { email, password });

  test('data is laid over the metadata, null removes a member, and the answer is the user', async () => {
    const own = await confirmedUser(subject);
    const auditBefore = (await subject.audit()).length;
    await put(own, { data: { a: 1, b: { deep: [1] }, c: 'x' } });
    const answer = await put(own, { data: { a: null, b: { other: true }, d: 'Ä' } });
    expect(answer.status).toBe(200);
    expect(answer.body['user_metadata']).toMatchObject({
      b: { other: true },
      c: 'x',
      d: 'Ä',
      email_verified: true,
    });
    expect(answer.body['user_metadata']).not.toHaveProperty('a');
    expect((await subject.get('/user', bearer(own))).body).toEqual(answer.body);
    expect((await subject.audit()).slice(auditBefore)).toEqual(['user_modified', 'user_modified']);
  });

  test('members of the metadata that were null before stay when nobody speaks of them', async () => {
    const own = await confirmedUser(subject);
    await subject.rows.autocommit()
      .run`update :schema.users set raw_user_meta_data = '{"kept": null}' where id = ${own.body.user?.id}`;
    expect((await put(own, { data: { a: 1 } })).body['user_metadata']).toEqual({ kept: null, a: 1 });
  });

  test('metadata does not grow without end, and what is too large can shrink', async () => {
    const own = await confirmedUser(subject);
    const set = (data: object) => put(own, { data });
    const text = 'x'.repeat(300_000);
    expect((await set({ a: text })).status).toBe(200);
    const before = await subject.snapshot();
    const refused = await set({ b: text });
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        code: 400,
        error_code: 'validation_failed',
        msg: 'user_metadata cannot be larger than 524288 bytes',
      },
    ]);
    expect(await subject.snapshot()).toBe(before);
    // In place of the other it fits; and larger ones from elsewhere do not keep anybody from tidying up.
    expect((await set({ a: null, b: text })).status).toBe(200);
    await subject.rows.autocommit().run`
      update :schema.users set raw_user_meta_data = raw_user_meta_data || jsonb_build_object('c', repeat('y', 1000000))
      where id = ${own.body.user?.id}`;
    expect((await set({ small: 1 })).status).toBe(400);
    expect((await set({ b: null })).body['user_metadata']).not.toHaveProperty('b');
  });

  test('a token with as much metadata as there may be is taken, such as to make it less again', async () => {
    await using large = await startSubject();
    const session = await confirmedUser(large);
    const data = { avatar: 'x'.repeat(520_000) };
    expect((await large.send('PUT', '/user', JSON.stringify({ data }), bearer(session))).status).toBe(200);
    const refreshed = await large.post('/token?grant_type=refresh_token', {
      refresh_token: session.body.refresh_token,
    });
    const address = await large.app.listen({ host: '127.0.0.1', port: 0 });
    const headers = { 'content-type': 'application/json', ...bearer(refreshed) };
    const body = JSON.stringify({ data: { avatar: null } });
    const answer = await fetch(`${address}/user`, { method: 'PUT', headers, body });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ user_metadata: expect.not.objectContaining(data) }),
    ]);
  });

  test('an empty body is a change of nothing, and recorded', async () => {
    const own = await confirmedUser(subject);
    expect((await put(own, {})).status).toBe(200);
    expect((await subject.audit()).at(-1)).toBe('user_modified');
  });

  test('app_metadata is for administrators', async () => {
    const own = await confirmedUser(subject);
    const before = await subject.snapshot();
    expect((await put(own, { app_metadata: { plan: 'gold' }, data: { a: 1 } })).body).toEqual({
      code: 403,
      error_code: 'not_admin',
      msg: 'Updating app_metadata requires admin privileges',
    });
    expect(await subject.snapshot()).toBe(before);
    await subject.rows.autocommit()
      .run`update :schema.users set role = 'service_role' where id = ${own.body.user?.id}`;
    const answer = await put(own, { app_metadata: { plan: 'gold', provider: null } });
    expect(answer.body['app_metadata']).toEqual({ plan: 'gold', providers: ['email'] });
  });

  test('a role in the token that the user lost counts for nothing', async () => {
    const own = await confirmedUser(subject);
    const claims = { ...claimsOf(subject, own), role: 'service_role' };
    const headers = { authorization: `Bearer ${accessTokens(JWT_SECRET).sign(claims)}` };
    const answer = await subject.send('PUT', '/user', '{"app_metadata":{"a":1}}', headers);
    expect(answer.body).toMatchObject({ error_code: 'not_admin' });
  });

  test('a password: the other sessions end, codes and waiting changes go, this session lives', async () => {
    const email = someone();
    const own = await confirmedUser(subject, email);
    const other = await signIn(email, PASSWORD);
    await subject.post('/recover', { email });
    const { token } = await newestTo(subject, email);
    const auditBefore = (await subject.audit()).length;
    const answer = await put(own, { password: 'another one' });
    expect(answer.status).toBe(200);
    expect((await subject.audit()).slice(auditBefore)).toEqual(['user_updated_password', 'user_modified']);
    expect((await subject.get('/user', bearer(other))).body).toMatchObject({
      error_code: 'session_not_found',
    });
    const grant = { refresh_token: other.body.refresh_token };
    expect((await subject.post('/token?grant_type=refresh_token', grant)).status).toBe(400);
    expect((await subject.get('/user', bearer(own))).status).toBe(200);
    expect((await subject.post('/verify', { type: 'recovery', token_hash: token })).status).toBe(403);
    expect((await signIn(email, PASSWORD)).status).toBe(400);
    expect((await signIn(email, 'another one')).status).toBe(200);
  });

  test.each([
    [
      'the same',
      { password: PASSWORD },
      422,
      'same_password',
      'New password should be different from the old password.',
    ],
    ['a weak one', { password: '12345' }, 422, 'weak_password', 'Password should be at least 6 characters.'],
    ['an empty one', { password: '' }, 422, 'weak_password', 'Password should be at least 6 characters.'],
    [
      'too long',
      { password: 'x'.repeat(73) },
      400,
      'validation_failed',
      'Password cannot be longer than 72 characters',
    ],
    ['no text', { password: 7 }, 400, 'bad_json', undefined],
    ['a character that cannot be typed', { password: 'a\0bcdef' }, 400, 'bad_json', undefined],
    [
      'with data that cannot be kept',
      { password: 'another one', data: { a: '\0' } },
      400,
      'bad_json',
      undefined,
    ],
    [
      'with a number while there are none',
      { password: 'another one', phone: '+14155552671' },
      400,
      'phone_provider_disabled',
      'Unsupported phone provider',
    ],
  ])('a password, %s: refused, and nothing changed', async (_name, body, code, error_code, msg) => {
    const own = await confirmedUser(subject);
    const before = await subject.snapshot();
    expect((await put(own, body)).body).toMatchObject({
      code,
      error_code,
      ...(msg === undefined ? {} : { msg }),
    });
    expect(await subject.snapshot()).toBe(before);
  });

  test('accounts a company manages change neither address nor password here', async () => {
    const own = await confirmedUser(subject);
    await subject.rows.autocommit()
      .run`update :schema.users set is_sso_user = true where id = ${own.body.user?.id}`;
    const before = await subject.snapshot();
    for (const body of [{ password: 'another one' }, { email: someone() }]) {
      expect((await put(own, body)).body).toEqual({
        code: 422,
        error_code: 'user_sso_managed',
        msg: 'Updating email, phone, password of a SSO account only possible via SSO',
      });
    }
    expect(await subject.snapshot()).toBe(before);
    expect((await put(own, { data: { a: 1 } })).status).toBe(200);
  });

  test('twice at the same moment with a password: both are answered, one counts, and one session is left', async () => {
    const email = someone();
    const sessions = [await confirmedUser(subject, email), await signIn(email, PASSWORD)];
    const answers = await Promise.all(
      sessions.map((session, index) =>
        put(session, { password: `number ${index}`, data: { [`k${index}`]: index } }),
      ),
    );
    expect(answers.every(({ status }) => status === 200 || status === 403)).toBe(true);
    const signIns = await Promise.all([0, 1].map((index) => signIn(email, `number ${index}`)));
    expect(signIns.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('metadata at the same moment: nobody’s is lost', async () => {
    const own = await confirmedUser(subject);
    await Promise.all(Array.from({ length: 12 }, (_, index) => put(own, { data: { [`k${index}`]: index } })));
    const { body } = await subject.get('/user', bearer(own));
    expect(Object.keys(body['user_metadata'] as object).filter((key) => key.startsWith('k'))).toHaveLength(
      12,
    );
  });

  describe('where a new password asks for reauthentication', () => {
    let strict: Subject;
    beforeAll(async () => {
      strict = await startSubject({
        AUTHSVC_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
        AUTHSVC_JWT_EXP: '1000000',
        AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
        AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
        AUTHSVC_SMS_TEST_OTP: '14155552671:123456',
      });
    });
    afterAll(() => strict[Symbol.asyncDispose]());

    /** Somebody who has been signed in for a day. */
    async function old() {
      const email = someone();
      const own = await confirmedUser(strict, email);
      strict.clock.advance(DAY);
      return { email, own };
    }
    const invalid = {
      code: 422,
      error_code: 'reauthentication_not_valid',
      msg: 'Nonce has expired or is invalid',
    };

    test('a session younger than a day needs none', async () => {
      const own = await confirmedUser(strict);
      strict.clock.advance(DAY - 1);
      expect((await put(own, { password: 'another one' }, strict)).status).toBe(200);
    });

    test('an older one does: 400, and nothing changed; the mailed nonce counts once', async () => {
      const { email, own } = await old();
      const before = await strict.snapshot();
      expect((await put(own, { password: 'another one', data: { a: 1 } }, strict)).body).toEqual({
        code: 400,
        error_code: 'reauthentication_needed',
        msg: 'Password update requires reauthentication',
      });
      expect(await strict.snapshot()).toBe(before);
      const asked = await strict.get('/reauthenticate', bearer(own));
      expect([asked.status, asked.body]).toEqual([200, {}]);
      expect((await strict.audit()).at(-1)).toBe('user_reauthenticate_requested');
      const mail = (await mailsTo(strict, email)).at(-1);
      expect(mail?.headers.get('subject')).toBe('Confirm reauthentication');
      const nonce = codeIn(mail);
      expect((await put(own, { password: PASSWORD, nonce }, strict)).body).toMatchObject({
        error_code: 'same_password',
      });
      expect((await put(own, { password: 'another one', nonce }, strict)).status).toBe(200);
      expect((await put(own, { password: 'a third one', nonce }, strict)).body).toEqual(invalid);
      expect((await signIn(email, 'another one', strict)).status).toBe(200);
    });

    test('what needs no password needs no nonce', async () => {
      const { own } = await old();
      expect((await put(own, { data: { a: 1 } }, strict)).status).toBe(200);
    });

    test('a token without a session is as good as an old one', async () => {
      const own = await confirmedUser(strict);
      const { session_id: _, ...claims } = claimsOf(strict, own) as Record<string, unknown>;
      const token = accessTokens(JWT_SECRET).sign(claims as AccessTokenClaims);
      const answer = await strict.send('PUT', '/user', '{"password":"another one"}', {
        authorization: `Bearer ${token}`,
      });
      expect(answer.body).toMatchObject({ error_code: 'reauthentication_needed' });
    });

    test('ten wrong guesses spend the nonce', async () => {
      const { email, own } = await old();
      await strict.get('/reauthenticate', bearer(own));
      const nonce = codeIn((await mailsTo(strict, email)).at(-1));
      const wrong = nonce === '000000' ? '000001' : '000000';
      for (let n = 0; n < 10; n++) {
        expect((await put(own, { password: 'another one', nonce: wrong }, strict)).body).toEqual(invalid);
      }
      expect((await put(own, { password: 'another one', nonce }, strict)).body).toEqual(invalid);
      expect((await signIn(email, PASSWORD, strict)).status).toBe(200);
    });

    test('the nonce of somebody else, an expired one, and a code for something else are none', async () => {
      const [one, two] = [await old(), await old()];
      await strict.get('/reauthenticate', bearer(one.own));
      const nonce = codeIn((await mailsTo(strict, one.email)).at(-1));
      expect((await put(two.own, { password: 'another one', nonce }, strict)).body).toEqual(invalid);
      await strict.post('/recover', { email: two.email });
      const recovery = codeIn((await mailsTo(strict, two.email)).at(-1));
      expect((await put(two.own, { password: 'another one', nonce: recovery }, strict)).body).toEqual(
        invalid,
      );
      strict.clock.advance(DAY);
      expect((await put(one.own, { password: 'another one', nonce }, strict)).body).toEqual(invalid);
    });

    test('a nonce 8 times at the same moment changes the password once', async () => {
      const { email, own } = await old();
      await strict.get('/reauthenticate', bearer(own));
      const nonce = codeIn((await mailsTo(strict, email)).at(-1));
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => put(own, { password: `number ${index}`, nonce }, strict)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(422)]);
    });

    test('who has only a number gets it there', async () => {
      const anonymous = await strict.post('/signup', {});
      await put(anonymous, { phone: '+14155552671' }, strict);
      const own = await strict.post('/verify', {
        type: 'phone_change',
        phone: '+14155552671',
        token: '123456',
      });
      strict.clock.advance(DAY);
      expect((await put(own, { password: 'another one' }, strict)).body).toMatchObject({
        error_code: 'reauthentication_needed',
      });
      expect((await strict.get('/reauthenticate', bearer(own))).status).toBe(200);
      expect((await put(own, { password: 'another one', nonce: '654321' }, strict)).body).toEqual(invalid);
      expect((await put(own, { password: 'another one', nonce: '123456' }, strict)).status).toBe(200);
    });
  });
});

describe('GET /reauthenticate', () => {
  test('too soon → 429, and nothing changed', async () => {
    const own = await confirmedUser(subject);
    expect((await subject.get('/reauthenticate', bearer(own))).status).toBe(200);
    await subject.mails();
    const before = await subject.snapshot();
    const answer = await subject.get('/reauthenticate', bearer(own));
    expect([answer.status, answer.body['error_code']]).toEqual([429, 'over_email_send_rate_limit']);
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([
    [
      'neither address nor number',
      null,
      400,
      'validation_failed',
      'Reauthentication requires the user to have an email or a phone number',
    ],
    [
      'an address nobody confirmed',
      'unproven@example.com',
      422,
      'email_not_confirmed',
      'Please verify your email first.',
    ],
  ])('%s → %s, and nothing changed', async (_name, email, code, error_code, msg) => {
    const own = await confirmedUser(subject);
    await subject.rows.autocommit()
      .run`update :schema.users set email = ${email}, email_confirmed_at = null where id = ${own.body.user?.id}`;
    const before = await subject.snapshot();
    expect((await subject.get('/reauthenticate', bearer(own))).body).toEqual({ code, error_code, msg });
    expect(await subject.snapshot()).toBe(before);
  });
});
