import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, type Subject, someone, startSubject } from './harness.ts';

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
    await using slow = await startSubject({ AUTHSVC_API_MAX_REQUEST_DURATION: '300ms' });
    const lock = slow.rows.transaction(async (tx) => {
      await tx.run`lock table :schema.users in access exclusive mode`;
      await sleep(800);
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
        'access-control-expose-headers': 'X-Total-Count, Link, X-Supabase-Api-Version',
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
    away.get('/verify?type=signup&token=x'),
  ]);
  for (const { status, body, headers } of answers) {
    expect(body).toMatchObject({
      code: 503,
      error_code: 'database_unavailable',
      error_id: expect.any(String),
    });
    expect([status, headers['retry-after']]).toEqual([503, '2']);
  }
  expect((await away.get('/health')).status).toBe(200);
});

test('the OpenAPI document describes every endpoint', async () => {
  const { body } = await subject.get('/openapi.json');
  expect(Object.keys(body['paths'] as object).sort()).toEqual([
    '/health',
    '/logout',
    '/ready',
    '/settings',
    '/signup',
    '/token',
    '/user',
    '/verify',
  ]);
  const paths = body['paths'] as Record<string, Record<string, { summary?: string; tags?: string[] }>>;
  for (const methods of Object.values(paths)) {
    for (const operation of Object.values(methods)) {
      expect(operation.summary).toBeTruthy();
      expect(operation.tags).toHaveLength(1);
    }
  }
});
