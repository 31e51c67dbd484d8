import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bearer, confirmedUser, PASSWORD, type Subject, someone, startSubject } from './harness.ts';

let subject: Subject;
beforeAll(async () => {
  subject = await startSubject({
    AUTHSVC_REQUEST_ID_HEADER: 'x-request-id',
    AUTHSVC_CORS_ALLOWED_HEADERS: 'X-Mine',
  });
});
afterAll(() => subject[Symbol.asyncDispose]());

describe('errors', () => {
  test.each(['2024-01-01', '2099-12-31'])(
    'version %s is answered in the versioned shape',
    async (version) => {
      const answer = await subject.get('/user', { 'x-supabase-api-version': version });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({
        code: 'no_authorization',
        message: 'This endpoint requires a valid Bearer token',
      });
      expect(answer.headers).toMatchObject({
        'x-supabase-api-version': '2024-01-01',
        'x-sb-error-code': 'no_authorization',
      });
    },
  );

  test.each([undefined, '2023-12-31', 'yesterday', '2024-13-01', '20240101'])(
    'version %s is answered in the default shape',
    async (version) => {
      const answer = await subject.get(
        '/user',
        version === undefined ? {} : { 'x-supabase-api-version': version },
      );
      expect(answer.body).toEqual({ code: 401, error_code: 'no_authorization', msg: expect.any(String) });
      expect(answer.headers).not.toHaveProperty('x-supabase-api-version');
    },
  );

  test('weak_password carries its reasons in both shapes', async () => {
    const body = { email: someone(), password: '1' };
    const reasons = { weak_password: { reasons: ['length'] } };
    expect((await subject.post('/signup', body)).body).toMatchObject({
      code: 422,
      error_code: 'weak_password',
      ...reasons,
    });
    const versioned = await subject.post('/signup', body, { 'x-supabase-api-version': '2024-01-01' });
    expect(versioned.body).toMatchObject({ code: 'weak_password', message: expect.any(String), ...reasons });
  });

  test('an unknown path is 404 in JSON', async () => {
    const answer = await subject.get('/nowhere');
    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.body).toEqual({
      code: 404,
      error_code: 'not_found',
      msg: 'There is no endpoint at /nowhere',
    });
  });

  test.each([
    ['GET', '/signup', 'POST'],
    ['DELETE', '/verify', 'GET, POST'],
    ['GET', '/token', 'POST'],
    ['POST', '/settings', 'GET'],
  ])('%s %s is 405 and names %s', async (method, path, allow) => {
    const answer = await subject.send(method, path, undefined);
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe(allow);
    expect(answer.body).toMatchObject({ code: 405, error_code: 'method_not_allowed' });
  });

  test.each([
    ['/signup', 'OPTIONS, POST'],
    ['/signup/', 'OPTIONS, POST'],
    ['/verify', 'GET, OPTIONS, POST'],
    ['/health', 'GET, OPTIONS'],
  ])('OPTIONS %s of somebody who is no browser names %s', async (path, allow) => {
    const answer = await subject.send('OPTIONS', path, undefined);
    expect([answer.status, answer.headers['allow'], answer.text]).toEqual([204, allow, '']);
  });

  test('OPTIONS of an unknown path is 404', async () => {
    expect((await subject.send('OPTIONS', '/nowhere', undefined)).status).toBe(404);
  });

  test.each([
    ['POST', '/signup/', 400, 'bad_json'],
    ['POST', '/verify/', 400, 'bad_json'],
    ['POST', '/token/?grant_type=x', 400, 'bad_json'],
    ['GET', '/user/', 401, 'no_authorization'],
    ['DELETE', '/user/', 405, 'method_not_allowed'],
    ['GET', '/user//', 404, 'not_found'],
    ['GET', '//user', 404, 'not_found'],
  ])('%s %s, with a slash too many, is %i %s', async (method, path, status, code) => {
    const answer = await subject.send(method, path, undefined);
    expect([answer.status, answer.body['error_code']]).toEqual([status, code]);
  });

  test('a body of more than 1 MiB is 413', async () => {
    const answer = await subject.send('POST', '/signup', JSON.stringify({ email: 'x'.repeat(1024 * 1024) }));
    expect(answer.body).toMatchObject({ code: 413, error_code: 'request_entity_too_large' });
  });

  test('a bug is 500 with the id of the request, and nothing about the reason', async () => {
    await using broken = await startSubject({ AUTHSVC_REQUEST_ID_HEADER: 'x-request-id' });
    await broken.rows.autocommit().script('drop table auth.users cascade');
    const bug = await broken.post(
      '/token?grant_type=password',
      { email: 'a@b.c', password: 'x' },
      { 'x-request-id': 'abc' },
    );
    expect(bug.status).toBe(500);
    expect(bug.body).toEqual({
      code: 500,
      error_code: 'unexpected_failure',
      msg: 'Unexpected failure, please check server logs for more information',
      error_id: 'abc',
    });
    expect(bug.text).not.toMatch(/users|relation/);
  });

  test('a request that takes too long is 504', async () => {
    await using slow = await startSubject({ AUTHSVC_API_MAX_REQUEST_DURATION: '1s' });
    const lock = slow.rows.transaction(async (tx) => {
      await tx.run`lock table :schema.users in access exclusive mode`;
      await sleep(2500);
    });
    await sleep(100);
    const answer = await slow.post('/token?grant_type=password', { email: 'a@b.c', password: 'x' });
    expect(answer.status).toBe(504);
    expect(answer.body).toMatchObject({
      code: 504,
      error_code: 'request_timeout',
      msg: 'Processing this request timed out, please retry after a moment.',
    });
    await lock;
  });

  test('what was answered 504 is not done afterwards', async () => {
    await using slow = await startSubject({ AUTHSVC_API_MAX_REQUEST_DURATION: '1500ms' });
    const known = await confirmedUser(slow);
    const before = await slow.snapshot();
    const lock = slow.rows.transaction(async (tx) => {
      await tx.run`lock table :schema.users, :schema.sessions in access exclusive mode`;
      await sleep(4000);
    });
    await sleep(100);
    const answers = await Promise.all([
      slow.post('/signup', { email: someone(), password: PASSWORD }),
      slow.post('/signup', { email: known.body.user?.email, password: PASSWORD }),
      slow.post('/token?grant_type=password', { email: known.body.user?.email, password: PASSWORD }),
      slow.post('/token?grant_type=refresh_token', { refresh_token: known.body.refresh_token }),
      slow.post('/logout', undefined, bearer(known)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([504, 504, 504, 504, 504]);
    await lock;
    await sleep(500);
    expect(await slow.snapshot()).toBe(before);
  });
});

describe('POST /token with a form', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const token = (payload: string, query = '') => subject.send('POST', `/token${query}`, payload, form);
  const credentials = (email: string) => `email=${encodeURIComponent(email)}&password=correct+horse`;

  test('signs in, with the grant in the body or in the address', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const inBody = await token(`grant_type=password&${credentials(email)}`);
    expect([inBody.status, inBody.body.user?.email]).toEqual([200, email]);
    expect((await token(credentials(email), '?grant_type=password')).status).toBe(200);
    const refresh = await token(`grant_type=refresh_token&refresh_token=${inBody.body.refresh_token}`);
    expect([refresh.status, refresh.body.token_type]).toEqual([200, 'bearer']);
  });

  test('takes the JSON that curl sends under its content type', async () => {
    const email = someone();
    await confirmedUser(subject, email);
    const answer = await token(JSON.stringify({ email, password: PASSWORD }), '?grant_type=password');
    expect(answer.status).toBe(200);
  });

  test.each([
    ['no grant', 'email=a@b.c', 'invalid_credentials'],
    ['another grant', 'grant_type=x', 'invalid_credentials'],
    ['U+0000', 'grant_type=password&email=%00', 'bad_json'],
    ['too many fields', 'a&'.repeat(5000), 'bad_json'],
  ])('%s is refused, and nothing changes', async (_name, payload, code) => {
    const before = await subject.snapshot();
    const answer = await token(payload);
    expect([answer.status, answer.body['error_code']]).toEqual([400, code]);
    expect(await subject.snapshot()).toBe(before);
  });

  test('other endpoints read JSON only', async () => {
    const answer = await subject.send('POST', '/signup', `email=${someone()}&password=${PASSWORD}`, form);
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'bad_json']);
  });
});

describe('limits', () => {
  let limited: Subject;
  beforeAll(async () => {
    limited = await startSubject({ AUTHSVC_RATE_LIMIT_ENABLED: 'true' });
  });
  afterAll(() => limited[Symbol.asyncDispose]());
  // By then every bucket is full again.
  beforeEach(() => limited.clock.advance(3_600_000));

  test.each([
    [
      'POST /token',
      (on: Subject) => on.post('/token?grant_type=password', { email: 'a@b.c', password: 'x' }),
    ],
    ['GET /verify', (on: Subject) => on.get('/verify?type=signup&token=x')],
    ['POST /verify', (on: Subject) => on.post('/verify', { type: 'signup', token_hash: 'x' })],
    ['POST /signup', (on: Subject) => on.post('/signup', { email: 'no address', password: PASSWORD })],
    ['POST /signup without an address', (on: Subject) => on.post('/signup', {})],
    ['POST /recover', (on: Subject) => on.post('/recover', { email: 'no address' })],
    ['POST /magiclink', (on: Subject) => on.post('/magiclink', { email: 'no address' })],
    ['POST /otp', (on: Subject) => on.post('/otp', { email: 'no address' })],
    ['POST /resend', (on: Subject) => on.post('/resend', { type: 'signup', email: 'no address' })],
    ['PUT /user', (on: Subject) => on.send('PUT', '/user', '{}')],
    ['GET /authorize', (on: Subject) => on.get('/authorize?provider=nobody')],
  ])('%s: after 30 requests 429, and nothing changed', async (_name, ask) => {
    for (let n = 0; n < 30; n++) expect((await ask(limited)).status).not.toBe(429);
    const before = await limited.snapshot();
    const answer = await ask(limited);
    expect(answer).toMatchObject({ status: 429, body: { error_code: 'over_request_rate_limit' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(await limited.snapshot()).toBe(before);
    limited.clock.advance(Number(answer.headers['retry-after']) * 1000);
    expect((await ask(limited)).status).not.toBe(429);
  });

  test('each endpoint is limited by itself', async () => {
    const paths = ['/recover', '/magiclink', '/otp', '/resend'];
    for (const path of paths) {
      for (let n = 0; n < 30; n++) {
        expect([path, (await limited.post(path, { email: 'no address' })).status]).not.toContain(429);
      }
    }
    for (const path of paths) expect((await limited.post(path, {})).status).toBe(429);
  });

  test.each(['/health', '/ready', '/settings', '/user'])('GET %s has none', async (path) => {
    for (let n = 0; n < 200; n++) expect((await limited.get(path)).status).not.toBe(429);
  });

  test('in the database, a refresh waits for one round trip', async () => {
    await using shared = await startSubject({
      AUTHSVC_RATE_LIMIT_ENABLED: 'true',
      AUTHSVC_RATE_LIMIT_STORE: 'postgres',
    });
    const session = await confirmedUser(shared);
    await shared.context.limits.close?.();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    // The rows of the limits are locked, so whoever waited for them would wait for us.
    const lock = shared.rows.transaction(async (tx) => {
      await tx.run`lock table :schema.rate_limits in access exclusive mode`;
      await held;
    });
    await sleep(50);
    const refreshed = await shared.post('/token?grant_type=refresh_token', {
      refresh_token: session.body.refresh_token,
    });
    expect(refreshed.status).toBe(200);
    release();
    await lock;
    await shared.context.limits.close?.();
  });
});

describe('browsers', () => {
  const origin = { origin: 'https://app.example' };

  test.each(['/signup', '/user', '/nowhere'])('the preflight of %s is answered 204', async (path) => {
    const asked = {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const answer = await subject.send('OPTIONS', path, undefined, asked);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': expect.stringMatching(
        /Authorization.*X-JWT-AUD.*X-Supabase-Api-Version, X-Mine$/,
      ),
    });
  });

  test('answers may be read by any origin, refusals too', async () => {
    for (const path of ['/settings', '/user', '/nowhere']) {
      const answer = await subject.get(path, origin);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers':
          'X-Total-Count, Link, X-Supabase-Api-Version, X-SB-Error-Code, Retry-After',
      });
    }
  });

  test('without an origin nothing is said', async () => {
    expect((await subject.get('/settings')).headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('GET /settings', () => {
  test('has the members of the contract and those of the reference', async () => {
    const { status, body } = await subject.get('/settings');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      disable_signup: false,
      autoconfirm: false,
      mailer_autoconfirm: false,
      sms_provider: '',
    });
    const external = body['external'] as Record<string, boolean>;
    const seventeen =
      'apple azure bitbucket discord facebook figma github gitlab google keycloak linkedin notion slack spotify twitch twitter workos';
    for (const provider of seventeen.split(' ')) expect(external).toHaveProperty(provider, false);
    expect(external).toMatchObject({ email: true, phone: false, anonymous_users: false });
  });

  test('follows the configuration', async () => {
    await using other = await startSubject({
      AUTHSVC_DISABLE_SIGNUP: 'true',
      AUTHSVC_MAILER_AUTOCONFIRM: 'true',
      AUTHSVC_EXTERNAL_EMAIL_ENABLED: 'false',
    });
    expect((await other.get('/settings')).body).toMatchObject({
      disable_signup: true,
      autoconfirm: true,
      mailer_autoconfirm: true,
      external: { email: false },
    });
  });
});

describe('health', () => {
  test('GET /health names the service', async () => {
    expect((await subject.get('/health')).body).toEqual({
      version: '0.0.0-test',
      name: 'Croft auth',
      description: expect.any(String),
    });
  });

  test('GET /ready looks at it', async () => {
    expect(await subject.get('/ready')).toMatchObject({ status: 200, body: { ready: true } });
  });
});

test('a database that is away is 503 on every endpoint that needs it', async () => {
  // A port that was free a moment ago.
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  await using away = await startSubject({}, undefined, `postgresql://nobody@127.0.0.1:${port}/none`);
  const answers = await Promise.all([
    away.get('/ready'),
    away.post('/signup', { email: someone(), password: PASSWORD }),
    away.post('/token?grant_type=password', { email: someone(), password: PASSWORD }),
  ]);
  for (const { status, body, headers } of answers) {
    expect(body).toMatchObject({
      code: 503,
      error_code: 'database_unavailable',
      error_id: expect.any(String),
    });
    expect([status, headers['retry-after']]).toEqual([503, '2']);
  }
  // A browser is sent home with it.
  const link = await away.get('/verify?type=signup&token=x');
  expect([link.status, link.headers['location']]).toEqual([
    303,
    expect.stringMatching(/#error=temporarily_unavailable&error_code=database_unavailable&/),
  ]);
  expect((await away.get('/health')).status).toBe(200);
});

test('the OpenAPI document describes every endpoint', async () => {
  const { body } = await subject.get('/openapi.json');
  const contract = `/admin/generate_link /admin/users /admin/users/{user_id} /authorize /callback /health /invite /logout
    /magiclink /otp /reauthenticate /recover /resend /settings /signup /token /user /verify`;
  expect(Object.keys(body['paths'] as object)).toEqual(expect.arrayContaining(contract.split(/\s+/)));
  const paths = body['paths'] as Record<string, Record<string, { summary?: string; tags?: string[] }>>;
  for (const methods of Object.values(paths)) {
    for (const operation of Object.values(methods)) {
      expect(operation.summary).toBeTruthy();
      expect(operation.tags).toHaveLength(1);
    }
  }
});
