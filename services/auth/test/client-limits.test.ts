import { type App, createApp } from '@croft/http';
import { type Log, silentLog } from '@croft/runtime';
import { readSettings } from '@croft/settings';
import { type Database, openDatabase } from '@croft/sql';
import { fixedClock, testDatabase } from '@croft/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limitClients, signUpBucket } from '../src/caller/limit-clients.ts';
import { recogniseClients } from '../src/caller/origin.ts';
import { allowBrowsers } from '../src/cors.ts';
import { errorDialect } from '../src/error-json.ts';
import { openLimits } from '../src/limits/limits.ts';
import { migrations } from '../src/open-context.ts';
import { lenientBody, textField } from '../src/requests.ts';
import { authSettings } from '../src/settings.ts';

// What requests see of the limits, on an application with nothing else in it: which address counts, and what is
// answered. The routes of the service itself are in protocol.test.ts.

let server: Awaited<ReturnType<typeof testDatabase>>;
let database: Database;
let app: App;
let handled: number;
let warnings: object[];
beforeAll(async () => {
  server = await testDatabase({ schema: 'auth', migrations });
  database = openDatabase({ url: server.url, schema: 'auth', log: silentLog });
});
afterAll(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => start());
afterEach(() => app.close());

async function start(environment: Record<string, string> = {}): Promise<void> {
  handled = 0;
  warnings = [];
  const log: Log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const settings = readSettings(authSettings, {
    AUTHSVC_SITE_URL: 'https://site.example',
    AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
    AUTHSVC_JWT_SECRET: 'a-secret-of-the-tests-that-nobody-else-has',
    AUTHSVC_RATE_LIMIT_VERIFY: '3',
    AUTHSVC_RATE_LIMIT_OTP: '3',
    AUTHSVC_RATE_LIMIT_ANONYMOUS_USERS: '2',
    ...environment,
  });
  app = await createApp({
    api: { title: '', description: '', version: '' },
    log,
    errors: errorDialect,
    ignoreTrailingSlash: true,
  });
  allowBrowsers(app, []);
  recogniseClients(app, settings);
  limitClients(app, { settings, log, limits: openLimits(settings, database, fixedClock()) });
  app.get('/verify', { config: { limit: 'verify' } }, (request) => {
    handled++;
    return { ip: request.clientAddress };
  });
  const body = lenientBody({ email: textField, phone: textField });
  app.post('/verify', { config: { limit: 'verify' }, schema: { body } }, () => handled++);
  app.post('/signup', { config: { limit: signUpBucket }, schema: { body } }, () => handled++);
  app.get('/health', () => ({ handled: handled++ }));
}

interface Asked {
  from?: string;
  headers?: Record<string, string>;
  url?: string;
}
/** Asks once; a proxy on this machine unless `from` says otherwise. */
const ask = ({ from = '127.0.0.1', headers = {}, url = '/verify' }: Asked = {}) =>
  app.inject({ url, headers, remoteAddress: from });
const forwarded = (address: string): Asked => ({ headers: { 'x-forwarded-for': address } });
/** How many of the requests are answered 200; each is made by itself, in order. */
async function count(asked: readonly Asked[]): Promise<number> {
  let answered = 0;
  for (const one of asked) if ((await ask(one)).statusCode === 200) answered++;
  return answered;
}
const often = (times: number, each: (n: number) => Asked): Asked[] =>
  Array.from({ length: times }, (_, n) => each(n));

describe('a refused request', () => {
  test('is 429 with the seconds to wait, and nothing was done', async () => {
    expect(await count(often(3, () => ({})))).toBe(3);
    const answer = await ask();
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '100']);
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'x-sb-error-code': 'over_request_rate_limit',
    });
    expect(answer.json()).toEqual({
      code: 429,
      error_code: 'over_request_rate_limit',
      msg: 'Request rate limit reached',
    });
    expect(handled).toBe(3);
  });

  test('has the versioned shape for those who ask', async () => {
    await count(often(3, () => ({})));
    const answer = await ask({ headers: { 'x-supabase-api-version': '2024-01-01' } });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '100']);
    expect(answer.json()).toEqual({ code: 'over_request_rate_limit', message: 'Request rate limit reached' });
  });

  test('can be read by browsers, the wait as well', async () => {
    await count(often(3, () => ({})));
    const answer = await ask({ headers: { origin: 'https://app.example' } });
    expect(answer.statusCode).toBe(429);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-expose-headers']).toContain('Retry-After');
  });

  test('is refused before its body is looked at', async () => {
    await count(often(3, () => ({})));
    for (const payload of ['no json', '{"email":1}', 'x'.repeat(2_000_000)]) {
      const answer = await app.inject({ method: 'POST', url: '/verify', payload });
      expect(answer.statusCode).toBe(429);
    }
    expect(handled).toBe(3);
  });

  test('of what has no limit does not exist', async () => {
    expect(await count(often(100, () => ({ url: '/health' })))).toBe(100);
  });

  test('preflights are not counted', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    for (let n = 0; n < 10; n++) await app.inject({ method: 'OPTIONS', url: '/verify', headers });
    expect(await count([{}])).toBe(1);
  });
});

describe('the bucket of a sign-up', () => {
  const signUp = async (payload: string) =>
    (await app.inject({ method: 'POST', url: '/signup', payload })).statusCode;

  test('is the smaller one without an address, and each is full by itself', async () => {
    const anonymous = ['{}', '{"data":{"email":"a@b.c"}}', '{"email":"","phone":null}'];
    const answers = [];
    for (const payload of anonymous) answers.push(await signUp(payload));
    expect(answers).toEqual([200, 200, 429]);
    expect(await signUp('{"email":"a@b.c"}')).toBe(200);
  });

  test.each(['{"email":"a@b.c","EMAIL":""}', '{"email":"a@b.c","eMail":null}', '{"Phone":"1","phone":""}'])(
    'attack: %s counts as what it becomes',
    async (payload) => {
      expect([await signUp('{}'), await signUp('{}'), await signUp(payload)]).toEqual([200, 200, 429]);
    },
  );

  test.each(['{"EMAIL":"a@b.c"}', '{"email":"","Email":"a@b.c"}', '{"PHONE":"1"}'])(
    '%s has an address',
    async (payload) => {
      await signUp('{}');
      await signUp('{}');
      expect(await signUp(payload)).toBe(200);
    },
  );

  test.each(['[]', '"x"', '7', 'null', ''])(
    'a body that is %s is refused for what it is',
    async (payload) => {
      expect(await signUp(payload)).toBe(400);
      expect(handled).toBe(0);
    },
  );
});

describe('attack: more than one’s share', () => {
  test.each<[string, (n: number) => Asked]>([
    [
      'another X-Forwarded-For each time, directly',
      (n) => ({ from: '198.51.100.7', ...forwarded(`6.6.6.${n}`) }),
    ],
    ['another one through the proxy, which appends', (n) => forwarded(`6.6.6.${n}, 198.51.100.7`)],
    ['private ones through the proxy', (n) => forwarded(`10.0.0.${n}, 198.51.100.7`)],
    ['text through the proxy', (n) => forwarded(`x${n}, 198.51.100.7`)],
    ['an empty entry more each time', (n) => forwarded(`${','.repeat(n)}198.51.100.7`)],
    ['another port each time', (n) => forwarded(`198.51.100.7:${n + 1}`)],
    ['IPv4 written as IPv6', (n) => forwarded(n % 2 === 0 ? '198.51.100.7' : '::ffff:198.51.100.7')],
    ['an address of one’s own network each time', (n) => forwarded(`2001:db8:1:2::${n.toString(16)}`)],
    [
      'IPv6 in another spelling',
      (n) => forwarded(['2001:DB8::1', '2001:db8:0:0::1', '[2001:db8::1]:9'][n % 3] ?? ''),
    ],
    [
      'another header that nobody named',
      (n) => ({ headers: { 'x-real-ip': `6.6.6.${n}`, forwarded: `for=6.6.6.${n}` } }),
    ],
    ['a slash at the end', (n) => ({ url: n % 2 === 0 ? '/verify' : '/verify/' })],
    ['another query', (n) => ({ url: `/verify?n=${n}` })],
    ['escapes in the path', (n) => ({ url: n % 2 === 0 ? '/verify' : '/%76erify' })],
    [
      'case of the path, which is another path',
      (n) => ({ url: ['/verify', '/Verify', '/VERIFY'][n % 3] ?? '' }),
    ],
    [
      'another user agent and bearer',
      (n) => ({ headers: { 'user-agent': `${n}`, authorization: `Bearer ${n}` } }),
    ],
  ])('%s', async (_name, each) => {
    expect(await count(often(20, each))).toBe(3);
    expect(handled).toBe(3);
  });

  test('methods share their bucket', async () => {
    for (let n = 0; n < 3; n++) await app.inject({ method: 'POST', url: '/verify', payload: '{}' });
    expect(await count([{}])).toBe(0);
  });

  test('what is malformed counts as well', async () => {
    for (let n = 0; n < 3; n++) await app.inject({ method: 'POST', url: '/verify', payload: '{' });
    expect(await count([{}])).toBe(0);
  });

  test('and nobody else’s is used up', async () => {
    await count(often(10, () => forwarded('198.51.100.7')));
    expect(await count([forwarded('198.51.100.8'), forwarded('2001:db8:1:3::1'), {}])).toBe(3);
  });
});

describe('RATE_LIMIT_HEADER', () => {
  const named = (value: string, from?: string): Asked => ({
    headers: { 'my-client': value },
    ...(from === undefined ? {} : { from }),
  });

  test('tells clients apart behind one address, and the address still goes to the records', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client' });
    expect(await count(often(5, () => named('a')))).toBe(3);
    expect(await count(often(5, () => named('b')))).toBe(3);
    expect((await ask(named('c'))).json()).toEqual({ ip: '127.0.0.1' });
  });

  test('without it the address counts', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client' });
    expect(await count(often(5, () => forwarded('198.51.100.7')))).toBe(3);
    expect(await count([{ ...named('  '), ...forwarded('198.51.100.8') }])).toBe(1);
  });

  test.each<[string, (n: number) => Asked]>([
    ['sent past the proxy', (n) => named(`${n}`, '198.51.100.7')],
    ['put before what a proxy appends', (n) => named(`${n}, the client`)],
    ['as an IPv6 address of the same network', (n) => named(`2001:db8:1:2::${n}`)],
    ['with the port of its connection', (n) => named(`198.51.100.9:${40_000 + n}`)],
    ['with that of an IPv6 connection', (n) => named(`[2001:db8:1:2::9]:${40_000 + n}`)],
    ['as the same address in two ways', (n) => named(n % 2 ? '198.51.100.9' : '::ffff:198.51.100.9')],
  ])('attack: another value each time, %s', async (_name, each) => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client' });
    expect(await count(often(20, each))).toBe(3);
  });

  test('IPv4 addresses that come through an IPv6 socket are clients of their own', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client' });
    expect(await count(often(8, (n) => named(`::ffff:198.51.100.${n}`)))).toBe(8);
  });

  test('that is ignored is warned of, once', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client' });
    await count(often(5, (n) => named(`${n}`, '198.51.100.7')));
    expect(warnings).toEqual([{ header: 'my-client', peer: '198.51.100.7' }]);
  });

  test('counts from a proxy that TRUSTED_PROXIES names', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client', AUTHSVC_TRUSTED_PROXIES: '198.51.100.0/24' });
    expect(await count(often(5, (n) => named(`${n}`, '198.51.100.7')))).toBe(5);
    expect(warnings).toEqual([]);
  });

  test('X-Forwarded-For is read as always, from its end', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'X-Forwarded-For' });
    expect(await count(often(20, (n) => forwarded(`6.6.6.${n}, 198.51.100.7`)))).toBe(3);
  });

  test('a value of any length is one client', async () => {
    await start({ AUTHSVC_RATE_LIMIT_HEADER: 'My-Client' });
    expect(await count(often(5, () => named('x'.repeat(5000))))).toBe(3);
    expect(await count([named(`${'x'.repeat(5000)}y`)])).toBe(1);
  });
});

test.each([
  ['0', 'nobody is believed', 3],
  ['1', 'the last address counts', 3],
  ['2', 'the one before it counts', 10],
])('TRUSTED_PROXIES=%s: %s', async (proxies, _name, answered) => {
  await start({ AUTHSVC_TRUSTED_PROXIES: proxies });
  expect(await count(often(10, (n) => forwarded(`203.0.113.${n}, 198.51.100.7`)))).toBe(answered);
});

test('several applications on one database share what they count', async () => {
  await app.close();
  await start({ AUTHSVC_RATE_LIMIT_STORE: 'postgres' });
  const first = app;
  const mine = forwarded('198.51.100.99');
  const answered = await count(often(10, () => mine));
  expect(answered).toBeGreaterThanOrEqual(3);
  expect(answered).toBeLessThanOrEqual(4);
  await start({ AUTHSVC_RATE_LIMIT_STORE: 'postgres' });
  const refused = [];
  for (let n = 0; n < 3; n++) refused.push((await ask(mine)).statusCode);
  expect(refused).toEqual([200, 429, 429]);
  await first.close();
});

test('switched off, nobody is limited', async () => {
  await start({ AUTHSVC_RATE_LIMIT_ENABLED: 'false' });
  expect(await count(often(100, () => ({})))).toBe(100);
});
