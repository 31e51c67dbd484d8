import { afterEach, beforeAll, expect, test } from 'vitest';
import { bearer, confirmedUser, type Subject, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';

// Whatever a route answers is declared in the document: each is asked in ways that end before its own code does.

interface Route {
  method: string;
  path: string;
  declared: readonly string[];
}

let routes: Route[];
beforeAll(async () => {
  await using described = await startSubject();
  const { paths } = JSON.parse((await described.get('/openapi.json')).text) as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, '2f1d6f8e-6f6b-4b0a-9a53-3f4f2b1d0c9e'),
      declared: Object.keys(responses),
    })),
  );
});

let subject: Subject | undefined;
afterEach(() => subject?.[Symbol.asyncDispose]());

/** Asks every route, and returns the statuses that came, those apart that are not declared. */
async function askAll(
  of: Subject,
  payload: (route: Route) => string | undefined,
  headers: Record<string, string> = {},
): Promise<{ statuses: Set<number>; undeclared: string[] }> {
  const statuses = new Set<number>();
  const undeclared: string[] = [];
  for (const route of routes) {
    const hasBody = route.method !== 'GET';
    const { status, text } = await of.send(
      route.method,
      route.path,
      hasBody ? payload(route) : undefined,
      headers,
    );
    statuses.add(status);
    if (!route.declared.includes(String(status)))
      undeclared.push(`${route.method} ${route.path}: ${status} ${text}`);
  }
  return { statuses, undeclared };
}
const something = () => '{"email":"a@example.com","password":"correct horse","type":"signup","token":"1"}';

test('there are routes to ask', () => {
  expect(routes.length).toBeGreaterThan(15);
});

test.each<[string, number, () => string | undefined]>([
  ['nothing', 400, () => undefined],
  ['no JSON', 400, () => '{'],
  ['a list', 400, () => '[]'],
  ['an empty object', 400, () => '{}'],
  ['something', 400, something],
  ['more than it may be', 413, () => `{"email":"${'x'.repeat(1_200_000)}"}`],
])('a body that is %s', async (_name, status, payload) => {
  subject = await startSubject();
  for (const headers of [{}, serviceRole(subject), bearer(await confirmedUser(subject))]) {
    const { statuses, undeclared } = await askAll(subject, payload, headers);
    expect(undeclared).toEqual([]);
    expect(statuses).toContain(status);
  }
});

test('too many requests', async () => {
  const none = ['TOKEN_REFRESH', 'VERIFY', 'OTP', 'AUTHORIZE', 'ANONYMOUS_USERS'];
  subject = await startSubject({
    AUTHSVC_RATE_LIMIT_ENABLED: 'true',
    ...Object.fromEntries(none.map((name) => [`AUTHSVC_RATE_LIMIT_${name}`, '0'])),
  });
  const { statuses, undeclared } = await askAll(subject, something);
  expect(undeclared).toEqual([]);
  expect(statuses).toContain(429);
});

test('a database that is away', async () => {
  subject = await startSubject({}, undefined, 'postgresql://127.0.0.1:1/none');
  for (const headers of [{}, serviceRole(subject)]) {
    const { statuses, undeclared } = await askAll(subject, something, headers);
    expect(undeclared).toEqual([]);
    expect(statuses).toContain(503);
  }
});

test('a database without tables', async () => {
  subject = await startSubject();
  await subject.rows.autocommit().script('drop schema auth cascade');
  const { statuses, undeclared } = await askAll(subject, something, serviceRole(subject));
  expect(undeclared).toEqual([]);
  expect(statuses).toContain(500);
});

test('a wrong token of an operator, and a CAPTCHA that is missing', async () => {
  subject = await startSubject({
    AUTHSVC_OPERATOR_TOKEN: 'operator',
    AUTHSVC_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTHSVC_SECURITY_CAPTCHA_SECRET: 'secret',
  });
  const refused = await askAll(subject, something, { 'x-operator-token': 'x' });
  expect(refused).toEqual({ statuses: new Set([401]), undeclared: [] });
  expect((await askAll(subject, something)).undeclared).toEqual([]);
});
