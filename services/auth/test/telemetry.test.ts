import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type App, createApp } from '@croft/http';
import { type Log, StartError, silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import type { Telemetry } from '@croft/telemetry';
import { temporaryFolder, testDatabase } from '@croft/testing';
import { describe, expect, test } from 'vitest';
import { errorDialect } from '../src/error-json.ts';
import { migrations } from '../src/open-context.ts';
import { startAuth } from '../src/service.ts';
import { authSettings } from '../src/settings.ts';
import { openAuthTelemetry } from '../src/telemetry.ts';
import { bearer, confirmedUser, JWT_SECRET, PASSWORD, someone, startSubject } from './harness.ts';
import { grpcReceiver, type OtlpReceiver, otlpReceiver } from './support/otlp-receiver.ts';

const smallest = {
  AUTHSVC_SITE_URL: 'https://site.example',
  AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
  AUTHSVC_JWT_SECRET: JWT_SECRET,
};

const settingsOf = (environment: Record<string, string>) =>
  readSettings(authSettings, { ...smallest, ...environment });

function open(environment: Record<string, string>, log: Log = silentLog): Promise<Telemetry | undefined> {
  return openAuthTelemetry({ settings: settingsOf(environment), version: '1.2.3-test', log });
}

/** Telemetry that is on, and off again at the end. */
async function opened(environment: Record<string, string>, log?: Log): Promise<Telemetry & AsyncDisposable> {
  const telemetry = await open(environment, log);
  if (telemetry === undefined) throw new Error('telemetry is off');
  return Object.assign(Object.create(telemetry) as Telemetry, {
    [Symbol.asyncDispose]: () => telemetry.close(),
  });
}

/** Other tests share the processor. */

const traced = (url: string) => ({ AUTHSVC_TRACING_ENABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: url });
const scraped = {
  AUTHSVC_METRICS_ENABLED: 'true',
  AUTHSVC_METRICS_EXPORTER: 'pullmetrics',
  OTEL_EXPORTER_PULLMETRICS_HOST: '127.0.0.1',
  OTEL_EXPORTER_PULLMETRICS_PORT: '0',
};

/** An application with the contract's shapes of routes; `/slow` answers when the promise does. */
async function smallApp(telemetry: Telemetry, slow?: Promise<object>): Promise<App> {
  const app = await createApp({
    api: { title: 'test', description: '', version: '1' },
    log: silentLog,
    errors: errorDialect,
    requestIdHeader: 'x-request-id',
  });
  telemetry.observe(app);
  app.get('/health', () => ({ ok: true }));
  app.get('/broken', () => {
    throw new Error('a bug');
  });
  app.get('/slow', () => slow);
  app.put('/admin/users/:user_id', () => ({ ok: true }));
  app.get('/factors/:factor_id/sessions/:number', () => ({ ok: true }));
  return app;
}

const scrape = async (telemetry: Telemetry): Promise<string> =>
  await (await fetch(telemetry.scrapeAddress ?? '')).text();

/** The value of a row of a scrape. */
function valueOf(text: string, name: string, ...labels: string[]): number {
  const row = text
    .split('\n')
    .find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)));
  return Number(row?.split(' ').at(-1));
}

describe('when it is off', () => {
  test('not one module of OpenTelemetry is loaded by the whole service', async () => {
    const loaded = async (environment: Record<string, string>): Promise<string[]> => {
      const script = `
        import { registerHooks } from 'node:module';
        const loaded = [];
        registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
        const at = ${JSON.stringify(new URL('../src/', import.meta.url).href)};
        await import(at + 'service.ts');
        const { openAuthTelemetry } = await import(at + 'telemetry.ts');
        const { authSettings } = await import(at + 'settings.ts');
        const { readSettings } = await import('@croft/settings');
        const log = { info() {}, warn() {}, debug() {}, error() {} };
        const settings = readSettings(authSettings, ${JSON.stringify({ ...smallest, ...environment })});
        const telemetry = await openAuthTelemetry({ settings, version: '1', log });
        await telemetry?.close();
        console.log(JSON.stringify(loaded.filter((url) => /opentelemetry|grpc-js/.test(url))));
        process.exit(0);`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        cwd: import.meta.dirname,
      });
      return JSON.parse(stdout) as string[];
    };
    expect(await loaded({})).toEqual([]);
    // The canary: on, they are, and only those of the protocol in use.
    const on = await loaded(traced('http://127.0.0.1:1'));
    expect(on.length).toBeGreaterThan(10);
    expect(on.filter((url) => /grpc|prometheus/.test(url))).toEqual([]);
  });

  test('it is undefined', async () => {
    expect(await open({})).toBeUndefined();
    expect(
      await open({ AUTHSVC_DEBUG: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x.example' }),
    ).toBeUndefined();
  });
});

describe('traces', () => {
  test('every call is a span with method, route pattern, params and status', async () => {
    await using receiver = await otlpReceiver();
    const telemetry = await opened(traced(receiver.url));
    const app = await smallApp(telemetry);
    const user = '2f1d6f8e-6f6b-4b0a-9a53-3f4f2b1d0c9e';
    await app.inject({ url: '/health' });
    await app.inject({ method: 'PUT', url: `/admin/users/${user}?apikey=x`, payload: {} });
    await app.inject({ url: `/factors/${user}/sessions/42` });
    await app.inject({ url: '/nowhere' });
    await app.inject({ url: '/broken' });
    await telemetry.close();
    expect(
      receiver.spans.map(({ name, kind, attributes, status }) => [name, kind, attributes, status]),
    ).toEqual([
      ['GET /health', 2, span('GET', '/health', 200), 0],
      [
        'PUT /admin/users/{user_id}',
        2,
        { ...span('PUT', '/admin/users/{user_id}', 200), 'http.route.params.user_id': user },
        0,
      ],
      [
        'GET /factors/{factor_id}/sessions/{number}',
        2,
        {
          ...span('GET', '/factors/{factor_id}/sessions/{number}', 200),
          'http.route.params.factor_id': user,
          'http.route.params.number': '42',
        },
        0,
      ],
      ['GET none', 2, span('GET', 'none', 404), 0],
      ['GET /broken', 2, span('GET', '/broken', 500), 2],
    ]);
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(5);
    await app.close();
  });

  const span = (method: string, route: string, status: number) => ({
    'http.method': method,
    'http.route': route,
    'http.status_code': status,
    'http.request.id': expect.stringMatching(/^[\da-f-]{36}$/),
  });

  test('a caller’s trace goes on, and what is no traceparent begins a new one', async () => {
    await using receiver = await otlpReceiver();
    const telemetry = await opened(traced(receiver.url));
    const app = await smallApp(telemetry);
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const send = (traceparent: string) =>
      app.inject({ url: '/health', headers: { traceparent, tracestate: 'vendor=free-text-of-the-caller' } });
    await send(`00-${trace}-b7ad6b7169203331-01`);
    await send(`00-${'0'.repeat(32)}-b7ad6b7169203331-01`);
    await send(`00-${trace}`);
    await send('x'.repeat(5000));
    await telemetry.close();
    const [continued, ...others] = receiver.spans;
    expect(continued).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331' });
    expect(continued?.spanId).not.toBe('b7ad6b7169203331');
    expect(others.map(({ parentSpanId }) => parentSpanId)).toEqual(['', '', '']);
    expect(others.filter(({ traceId }) => traceId === trace)).toEqual([]);
    expect(receiver.raw.join()).not.toContain('free-text-of-the-caller');
    await app.close();
  });

  test.each([
    ['http/protobuf', otlpReceiver, { 'content-type': 'application/x-protobuf' }],
    ['http/json', otlpReceiver, { 'content-type': 'application/json' }],
    ['grpc', grpcReceiver, { 'content-type': 'application/grpc' }],
  ] as const)('arrive over %s, with the headers of the settings', async (protocol, start, headers) => {
    await using receiver: OtlpReceiver = await start();
    const telemetry = await opened({
      ...traced(receiver.url),
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=from%20all,x-other=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=from%20traces',
    });
    const app = await smallApp(telemetry);
    await app.inject({ url: '/health' });
    await telemetry.close();
    expect(receiver.spans.map(({ name }) => name)).toEqual(['GET /health']);
    expect(receiver.headers[0]).toMatchObject({ ...headers, 'x-key': 'from traces', 'x-other': '1' });
    await app.close();
  });

  test('the resource names service and version, and what the operator adds', async () => {
    await using receiver = await otlpReceiver();
    const telemetry = await opened({
      ...traced(receiver.url),
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=staging,team=a%2Cb',
      OTEL_SERVICE_NAME: 'sign-in',
    });
    const app = await smallApp(telemetry);
    await app.inject({ url: '/health' });
    await telemetry.close();
    expect(receiver.spans[0]?.resource).toMatchObject({
      'service.name': 'sign-in',
      'auth.version': '1.2.3-test',
      'deployment.environment': 'staging',
      team: 'a,b',
    });
    await app.close();
  });

  test.each([
    [{}, 'croft-auth'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=a' }, 'a'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=a', OTEL_SERVICE_NAME: 'b' }, 'b'],
    [{ AUTHSVC_OTEL_SERVICE_NAME: 'c' }, 'c'],
  ])('the name with %j is %s', async (environment, expected) => {
    await using telemetry = await opened({ ...scraped, ...environment });
    expect(await scrape(telemetry)).toContain(`service_name="${expected}"`);
  });

  test('attributes that are none are explained at the start', async () => {
    for (const bad of ['no-equals', '=x', 'a=%zz']) {
      await expect(open({ ...traced('http://127.0.0.1:1'), OTEL_RESOURCE_ATTRIBUTES: bad })).rejects.toThrow(
        /^OTEL_RESOURCE_ATTRIBUTES: /,
      );
    }
    const headers = open({ ...traced('http://127.0.0.1:1'), OTEL_EXPORTER_OTLP_HEADERS: 'the-secret-key' });
    await expect(headers).rejects.toThrow(StartError);
    await headers.catch((error: Error) => expect(error.message).not.toContain('the-secret-key'));
    for (const protocol of ['http/protobuf', 'grpc']) {
      const split = open({
        ...traced('http://127.0.0.1:1'),
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=the-secret-key%0D%0Ax-more: 1',
      });
      await expect(split).rejects.toThrow(StartError);
      await split.catch((error: Error) => expect(error.message).not.toContain('the-secret-key'));
    }
  });

  test('a collector that is away costs nobody an answer, nor the process its end', async () => {
    const lines: string[] = [];
    const log = {
      ...silentLog,
      warn: (fields: object, text: string) => void lines.push(JSON.stringify(fields) + text),
    };
    const secret = 'key-of-the-collector';
    const telemetry = await opened(
      { ...traced('http://127.0.0.1:1'), OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret}` },
      log,
    );
    const app = await smallApp(telemetry);
    for (let n = 0; n < 20; n++) expect((await app.inject({ url: '/health' })).statusCode).toBe(200);
    const startedAt = performance.now();
    await telemetry.close();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(lines.join('\n')).not.toContain(secret);
    await app.close();
  });
});

describe('metrics for scraping', () => {
  test('stand at path / of a server of their own, for GET and HEAD alone', async () => {
    await using telemetry = await opened(scraped);
    const at = telemetry.scrapeAddress ?? '';
    expect(at).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const answer = await fetch(at);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect((await fetch(at, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${at}metrics`)).status).toBe(404);
    const posted = await fetch(at, { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('hold the runtime, the requests by route, own counters and the version', async () => {
    await using telemetry = await opened({ ...scraped, AUTHSVC_METRICS_EXPORTER: 'prometheus' });
    const app = await smallApp(telemetry);
    const counter = telemetry.counter('auth.cleanup.affected_rows', 'Rows removed.');
    counter.add(3, { table: 'sessions' });
    counter.add(2, { table: 'sessions' });
    await app.inject({ url: '/health' });
    await app.inject({ url: '/health' });
    await app.inject({ method: 'PUT', url: '/admin/users/1', payload: {} });
    // The event loop is looked at every 10 ms.
    await expect.poll(() => scrape(telemetry)).toContain('nodejs_eventloop_delay_p99');
    const text = await scrape(telemetry);
    const count = 'http_server_request_duration_count';
    expect(valueOf(text, count, 'http_route="/health"', 'http_method="GET"', 'http_status_code="200"')).toBe(
      2,
    );
    expect(valueOf(text, count, 'http_route="/admin/users/{user_id}"')).toBe(1);
    expect(valueOf(text, 'auth_cleanup_affected_rows_total', 'table="sessions"')).toBe(5);
    expect(valueOf(text, 'http_server_active_requests', 'http_method="GET"')).toBe(0);
    expect(valueOf(text, 'process_memory_usage')).toBeGreaterThan(10_000_000);
    expect(valueOf(text, 'process_cpu_time_total', 'cpu_mode="user"')).toBeGreaterThan(0);
    expect(valueOf(text, 'v8js_memory_heap_used', 'old_space')).toBeGreaterThan(0);
    expect(valueOf(text, 'nodejs_eventloop_utilization')).toBeGreaterThanOrEqual(0);
    expect(text).toMatch(/^target_info\{.*auth_version="1\.2\.3-test".*\} 1$/m);
    expect(text).toContain('service_name="croft-auth"');
    await app.close();
  });

  test('a port in use is explained', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const refused = open({ ...scraped, OTEL_EXPORTER_PULLMETRICS_PORT: String(port) });
    await expect(refused).rejects.toThrow(StartError);
    await expect(refused).rejects.toThrow(/in use.*OTEL_EXPORTER_PULLMETRICS_PORT/);
    other.close();
  });

  test('a client that goes away is counted once, and is no request under way', async () => {
    await using telemetry = await opened(scraped);
    const slow = Promise.withResolvers<object>();
    const app = await smallApp(telemetry, slow.promise);
    await app.listen({ port: 0, host: '127.0.0.1' });
    const active = async () =>
      valueOf(await scrape(telemetry), 'http_server_active_requests', 'http_method="GET"');
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(active).toBe(1);
    socket.destroy();
    await expect.poll(active).toBe(0);
    slow.resolve({});
    await sleep(50);
    expect(await active()).toBe(0);
    const count = 'http_server_request_duration_count';
    expect(valueOf(await scrape(telemetry), count, 'http_route="/slow"', 'http_status_code="499"')).toBe(1);
    await app.close();
  });

  test('labels have few values, whatever clients send', async () => {
    await using telemetry = await opened(scraped);
    const app = await smallApp(telemetry);
    for (let n = 0; n < 300; n++) {
      await app.inject({ url: `/unknown-${n}` });
      await app.inject({ method: 'PUT', url: `/admin/users/user-${n}`, payload: {} });
      await app.inject({
        method: (['PROPFIND', 'LOCK', 'SEARCH', 'MKCOL'] as const)[n % 4] as 'GET',
        url: '/health',
      });
    }
    const rows = (await scrape(telemetry)).split('\n').filter((line) => line.startsWith('http_server_'));
    expect(rows.filter((row) => row.includes('_count')).length).toBeLessThan(8);
    expect(rows.join('\n')).not.toMatch(/unknown-\d|user-\d|PROPFIND/);
    await app.close();
  });
});

describe('metrics pushed', () => {
  test.each([
    ['http/protobuf', otlpReceiver],
    ['grpc', grpcReceiver],
  ] as const)('arrive over %s', async (protocol, start) => {
    await using receiver: OtlpReceiver = await start();
    const telemetry = await opened({
      AUTHSVC_METRICS_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url + (protocol === 'grpc' ? '' : '/v1/metrics'),
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
      OTEL_METRIC_EXPORT_INTERVAL: '200',
    });
    expect(telemetry.scrapeAddress).toBeUndefined();
    const app = await smallApp(telemetry);
    await app.inject({ url: '/health' });
    // By itself, not only at the end.
    await expect.poll(() => receiver.points.length).toBeGreaterThan(0);
    const arrived = new Map(receiver.points.map((point) => [point.metric, point]));
    expect(arrived.get('http.server.request.duration')).toMatchObject({
      attributes: { 'http.method': 'GET', 'http.route': '/health', 'http.status_code': 200 },
      value: 1,
      resource: { 'auth.version': '1.2.3-test' },
    });
    expect(arrived.get('process.memory.usage')?.value).toBeGreaterThan(10_000_000);
    await telemetry.close();
    await app.close();
  });
});

test('the service as it starts: what browsers ask beforehand is traced too, and all ends with it', async () => {
  await using receiver = await otlpReceiver();
  await using database = await testDatabase({ schema: 'auth', migrations });
  await using folder = await temporaryFolder();
  const settings = settingsOf({ ...traced(receiver.url), ...scraped, AUTHSVC_API_PORT: '0' });
  let metrics = '';
  const log = {
    ...silentLog,
    info: (fields: object) => void (metrics = 'metrics' in fields ? String(fields.metrics) : metrics),
  };
  const secrets = { atRestKey: new Secret('an at-rest key of the tests') };
  const options = { databaseUrl: database.url, dataFolder: folder.path, version: '9.9.9', secrets };
  const service = await startAuth({ ...options, settings, log });
  const preflight = { origin: 'https://site.example', 'access-control-request-method': 'POST' };
  await fetch(`${service.address}/signup`, { method: 'OPTIONS', headers: preflight });
  await fetch(`${service.address}/settings`);
  expect(await (await fetch(metrics)).text()).toContain('auth_version="9.9.9"');
  await service.close(1_000);
  await expect(fetch(metrics)).rejects.toThrow();
  expect(receiver.spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^OPTIONS /), 'GET /settings', 'GET /health']),
  );
});

test('DEBUG makes the SDK talk, in our log', async () => {
  const linesWith = async (debug: string): Promise<number> => {
    let lines = 0;
    const count = () => void lines++;
    await using receiver = await otlpReceiver();
    const telemetry = await opened(
      { ...traced(receiver.url), AUTHSVC_DEBUG: debug },
      { ...silentLog, info: count, warn: count, debug: count },
    );
    const app = await smallApp(telemetry);
    await app.inject({ url: '/health' });
    await telemetry.close();
    await app.close();
    return lines;
  };
  expect(await linesWith('false')).toBe(0);
  expect(await linesWith('true')).toBeGreaterThan(0);
});

test('attack: no secret, token, address or query string is in a span, a label or a log of the SDK', async () => {
  await using receiver = await otlpReceiver();
  const lines: string[] = [];
  const note = (fields: object, text: string) => void lines.push(JSON.stringify(fields) + text);
  await using telemetry = await opened(
    { ...traced(receiver.url), ...scraped, AUTHSVC_DEBUG: 'true' },
    { ...silentLog, info: note, warn: note, debug: note, error: note },
  );
  await using subject = await startSubject({ AUTHSVC_REQUEST_ID_HEADER: 'x-request-id' });
  telemetry.observe(subject.app);
  const email = someone('secretive');
  const session = await confirmedUser(subject, email);
  const token = String(session.body.access_token);
  const headers = {
    ...bearer(session),
    'x-request-id': `id-${token}`,
    'user-agent': 'agent-with-secret',
    tracestate: 'k=state-secret',
    baggage: 'k=baggage-secret',
  };
  await subject.get('/user?apikey=query-secret', headers);
  await subject.get(`/verify?type=signup&token=link-secret&redirect_to=https://site.example/redirect-secret`);
  await subject.post('/token?grant_type=password', { email, password: `${PASSWORD} wrong` }, headers);
  await subject.send('PUT', `/admin/users/${encodeURIComponent(email)}`, '{}', headers);
  await subject.send('PUT', `/admin/users/${token.slice(0, 900)}`, '{}', headers);
  await subject.get(`/${token.slice(0, 500)}/${email}`, headers);
  await subject.post('/signup', {
    email: 'not an address secret-field',
    password: 'x',
    data: { a: 'secret-data' },
  });
  const rows = await scrape(telemetry);
  await telemetry.close();
  expect(receiver.spans.length).toBeGreaterThan(8);
  const everything = [...receiver.raw, rows, ...lines].join('\n');
  expect(everything).toContain('/verify');
  const fragments = [email, email.split('@')[0] ?? '', '@example.com', token.slice(0, 20), token.slice(-20)];
  const secrets = [
    PASSWORD,
    JWT_SECRET,
    String(session.body.refresh_token),
    'secret',
    'grant_type',
    'agent-with',
  ];
  for (const forbidden of [...fragments, ...secrets]) expect(everything).not.toContain(forbidden);
});
