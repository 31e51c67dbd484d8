import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, httpStatus } from '@croft/failure';
import { type Log, silentLog } from '@croft/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type App,
  answerOtherMethods,
  closeGracefully,
  createApp,
  type ErrorDialect,
  listen,
  type Request,
} from '../src/index.ts';

const dialect: ErrorDialect = {
  unreadable: (kind, reason) => new Failure(kind, 'unreadable', reason),
  malformedBody: (reason) => new Failure('invalid', 'bad_json', reason),
  invalidRequest: (place, issues) =>
    new Failure(
      'unprocessable',
      'invalid',
      issues.map(({ path, code }) => `${place}.${path.join('.')} ${code}`).join('; '),
    ),
  bodyTooLarge: (limit) => new Failure('too-large', 'too_large', `at most ${limit} bytes`),
  unsupportedMediaType: (type) => new Failure('unprocessable', 'media_type', type),
  routeNotFound: (method, path) => new Failure('not-found', 'no_route', `${method} ${path}`),
  methodNotAllowed: (method, allow) => new Failure('not-allowed', 'method', `${method}: ${allow.join(' ')}`),
  timedOut: () => new Failure('timed-out', 'timeout', 'too slow'),
  fromError: () => new Failure('unavailable', 'unexpected', 'see the log', { retryAfterSeconds: 1.2 }),
  render: (failure, request) => ({
    status: httpStatus[failure.kind],
    body: { code: failure.code, message: failure.message, id: request.id },
  }),
};

interface Line {
  fields: Record<string, unknown>;
  message: string;
}
let lines: Line[];
let app: App;
/** Why the handlers that wait were told to stop. */
let stopped: string[];

/** Works until nobody wants the answer any more. */
async function waitFor(request: Request, name: string): Promise<object> {
  await new Promise<void>((resolve) => request.abandoned.addEventListener('abort', () => resolve()));
  stopped.push(`${name}: ${(request.abandoned.reason as Error).message}`);
  return {};
}

beforeEach(async () => {
  lines = [];
  stopped = [];
  const record = (fields: object, message: string) => void lines.push({ fields: { ...fields }, message });
  const log: Log = { ...silentLog, info: record, error: record };
  app = await createApp({
    api: { title: 'Sample', description: 'A sample.', version: '1.2.3' },
    log,
    errors: dialect,
    requestIdHeader: 'x-request-id',
    bodyLimitBytes: 1000,
    handlerTimeoutMs: 200,
  });
  answerOtherMethods(app, dialect);
  app.get('/things/:id', { schema: { params: z.object({ id: z.string() }) } }, (request) => ({
    id: request.params.id,
  }));
  app.post(
    '/things',
    { schema: { body: z.object({ name: z.string(), size: z.number().optional() }) } },
    (request) => request.body,
  );
  app.post('/closed', { onRequest: async (_request, reply) => await reply.code(401).send({}) }, () => ({}));
  app.get('/files/*', () => ({}));
  app.get('/patches/:number(^\\d+).:kind(^(?:diff|patch)$)', () => ({}));
  app.put('/things/all', () => ({ all: true }));
  app.get('/slow', async () => {
    await sleep(400);
    return {};
  });
  app.get('/stream', () =>
    Readable.from(
      (async function* () {
        yield 'begun';
        await sleep(400);
        yield ', ended';
      })(),
    ),
  );
  app.get('/busy', async () => {
    await sleep(100);
    return { done: true };
  });
  app.get('/bug', () => {
    throw new TypeError('secret detail');
  });
  app.post(
    '/forms',
    {
      config: { form: true },
      schema: { body: z.object({ name: z.string() }).loose() },
    },
    (request) => request.body,
  );
  app.get('/long', { config: { timeoutMs: 0 } }, (request) => waitFor(request, 'long'));
  app.post('/waits', (request) => waitFor(request, 'waits'));
});
afterEach(() => app.close());

const post = (payload: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/things', payload, headers });

describe('bodies', () => {
  it.each([{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }])(
    'are JSON under the headers %j',
    async (headers) => {
      const answer = await post('{"name":"a","extra":1}', headers);
      expect([answer.statusCode, answer.json()]).toEqual([200, { name: 'a' }]);
    },
  );

  it.each([
    ['malformed', '{"name":', 400, 'bad_json'],
    ['empty', '', 422, 'invalid'],
    ['of the wrong type', '{"name":1}', 422, 'invalid'],
    ['no object', '[]', 422, 'invalid'],
    ['too large', JSON.stringify({ name: 'x'.repeat(1000) }), 413, 'too_large'],
  ])('that are %s get a precise error', async (_name, payload, status, code) => {
    const answer = await post(payload);
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
  });

  it('name the member that does not fit', async () => {
    expect((await post('{"name":"a","size":"big"}')).json().message).toBe('body.size invalid_type');
  });

  it('cannot set a prototype', async () => {
    expect((await post('{"name":"a","__proto__":{"size":3}}')).json()).toEqual({ name: 'a' });
  });
});

describe('forms', () => {
  const send = (payload: string, type = 'application/x-www-form-urlencoded', url = '/forms') =>
    app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });

  it.each([
    ['fields', 'name=a%20b+c&x=%26', { name: 'a b c', x: '&' }],
    ['of several with one name the first', 'name=a&name=b', { name: 'a' }],
    ['a field without a value', 'name', { name: '' }],
    ['JSON under their content type, as curl sends it', ' {"name":"a"}', { name: 'a' }],
    ['no prototype', 'name=a&__proto__=b&__proto__[c]=d', { name: 'a', '__proto__[c]': 'd' }],
    ['half a percent sign', 'name=%zz', { name: '%zz' }],
  ])('are read: %s', async (_name, payload, body) => {
    const answer = await send(payload);
    expect([answer.statusCode, answer.json()]).toEqual([200, body]);
  });

  it.each(['application/x-www-form-urlencoded; charset=utf-8', 'Application/X-WWW-Form-Urlencoded'])(
    'are known as %s',
    async (type) => {
      expect((await send('name=a', type)).json()).toEqual({ name: 'a' });
    },
  );

  it.each(['application/json', 'application/x-www-form-urlencodedx', 'text/plain'])(
    'are none as %s',
    async (type) => {
      expect((await send('name=a', type)).json().code).toBe('bad_json');
    },
  );

  it('are no bodies for other routes', async () => {
    const answer = await send('name=a', undefined, '/things');
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'bad_json']);
  });

  it('of endless fields are refused before they are read', async () => {
    app = await createApp({
      api: { title: '', description: '', version: '' },
      log: silentLog,
      errors: dialect,
    });
    app.post('/forms', { config: { form: true } }, () => ({}));
    const startedAt = performance.now();
    const answer = await send('a&'.repeat(500_000));
    expect(performance.now() - startedAt).toBeLessThan(200);
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'the form has too many fields']);
  });
});

describe('routes', () => {
  it('that do not exist are 404 in the dialect', async () => {
    expect((await app.inject('/nothing?token=secret')).json()).toMatchObject({
      code: 'no_route',
      message: 'GET /nothing',
    });
  });

  it.each(['PUT', 'DELETE', 'HEAD', 'PATCH'] as const)(
    'answer %s with 405 and Allow when they lack it',
    async (method) => {
      const answer = await app.inject({ method, url: '/things/1' });
      expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'GET']);
    },
  );

  it.each([
    ['DELETE', '/files/a/b%2Fc', 405],
    ['DELETE', '/files/', 405],
    ['DELETE', '/%74hings/1?a=/b', 405],
    ['POST', '/patches/12.diff', 405],
    ['POST', '/patches/twelve.diff', 404],
    ['POST', '/patches/12.zip', 404],
    ['DELETE', '/things/1/', 404],
    ['DELETE', '/things//', 404],
    ['DELETE', '/things/1/2', 404],
  ] as const)('%s %s is %i', async (method, url, status) => {
    const payload = 'not json';
    const headers = { 'content-type': 'application/json' };
    // What is sent is not read where it is of no interest.
    const answer = await app.inject({ method, url, ...(status === 405 ? { payload, headers } : {}) });
    expect(answer.statusCode).toBe(status);
    if (status === 405) expect(answer.headers['allow']).toBe('GET');
  });

  it('of a pattern serve what another one names for other methods only', async () => {
    expect((await app.inject('/things/all')).json()).toEqual({ id: 'all' });
    const { statusCode, headers } = await app.inject({ method: 'DELETE', url: '/things/all' });
    expect([statusCode, headers['allow']]).toEqual([405, 'GET, PUT']);
  });

  it.each([
    ['/things/1', 'GET, OPTIONS'],
    ['/things', 'OPTIONS, POST'],
  ])('answer OPTIONS %s with what there is: %s', async (url, allow) => {
    const answer = await app.inject({ method: 'OPTIONS', url });
    expect([answer.statusCode, answer.headers['allow'], answer.body]).toEqual([204, allow, '']);
  });

  it('that do not exist have no options', async () => {
    expect((await app.inject({ method: 'OPTIONS', url: '/nothing' })).statusCode).toBe(404);
  });

  it.each(['/things/%zz', '/things/%00', `/things/${'x'.repeat(2000)}`])(
    'survive the path %s',
    async (url) => {
      expect((await app.inject(url)).statusCode).toBeLessThan(500);
    },
  );
});

describe('what is no failure', () => {
  it('is answered without details and logged with them under the request id', async () => {
    const answer = await app.inject({ url: '/bug', headers: { 'x-request-id': 'r-1' } });
    expect(answer.json()).toEqual({ code: 'unexpected', message: 'see the log', id: 'r-1' });
    expect(answer.headers['retry-after']).toBe('2');
    expect(lines[0]).toMatchObject({
      message: 'request failed',
      fields: { requestId: 'r-1', error: { message: 'secret detail' } },
    });
  });

  it('times out in the dialect', async () => {
    expect((await app.inject('/slow')).json().code).toBe('timeout');
  });
});

describe('work nobody waits for', () => {
  it('does not break off an answer that has begun, however long it takes', async () => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const answer = await fetch(`${address}/stream`);
    expect([answer.status, await answer.text()]).toEqual([200, 'begun, ended']);
  });

  it('is told when the time is over, after the answer', async () => {
    const answer = await app.inject({ method: 'POST', url: '/waits', payload: '{"a":1}' });
    expect([answer.statusCode, stopped]).toEqual([504, ['waits: the request took too long']]);
  });

  it('is told when the client hangs up', async () => {
    const address = await listen(app, { host: '127.0.0.1', port: 0, portSetting: '' }, '/busy');
    const hungUp = new AbortController();
    const asked = fetch(`${address}/long`, { signal: hungUp.signal });
    await sleep(50);
    hungUp.abort();
    await expect(asked).rejects.toThrow('aborted');
    await vi.waitFor(() => expect(stopped).toEqual(['long: the client has gone']));
  });

  it('is not told anything else: a body that was read is no client that has gone', async () => {
    let seen: AbortSignal | undefined;
    app.addHook('preHandler', (request, _reply, done) => {
      seen = request.abandoned;
      setTimeout(done, 50);
    });
    const address = await listen(app, { host: '127.0.0.1', port: 0, portSetting: '' }, '/busy');
    const answer = await fetch(`${address}/things`, { method: 'POST', body: '{"name":"a"}' });
    expect([answer.status, seen?.aborted]).toEqual([200, false]);
  });
});

describe('the log', () => {
  it('has one line a request, with the pattern instead of the path', async () => {
    await app.inject('/things/secret-name?token=t');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).toMatchObject({ method: 'GET', route: '/things/:id', status: 200 });
    expect(JSON.stringify(lines)).not.toContain('secret-name');
  });
});

describe('/openapi.json', () => {
  it('describes the routes by their schemas and hides the rest', async () => {
    const document = (await app.inject('/openapi.json')).json();
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Sample', version: '1.2.3' } });
    expect(Object.keys(document.paths['/things'])).toEqual(['post']);
    expect(document.paths['/things'].post.requestBody.content['application/json'].schema.required).toEqual([
      'name',
    ]);
  });

  it('is made route by route, with turns of the event loop for other requests in between', async () => {
    const plenty = await createApp({
      api: { title: '', description: '', version: '' },
      log: silentLog,
      errors: dialect,
    });
    let turn = 0;
    let count = setImmediate(function next() {
      turn++;
      count = setImmediate(next);
    });
    const turns: number[] = [];
    for (let route = 0; route < 20; route++) {
      // A lazy schema is looked into when it is described.
      const schema = z.lazy(() => {
        turns.push(turn);
        return z.object({ name: z.string() });
      });
      plenty.get(`/${route}`, { schema: { response: { 200: schema } } }, () => ({ name: '' }));
    }
    const first = await plenty.inject('/openapi.json');
    clearImmediate(count);
    expect(Object.keys(first.json().paths)).toHaveLength(20);
    expect(new Set(turns).size).toBe(20);
    // It is kept: nothing is described a second time.
    expect((await plenty.inject('/openapi.json')).body).toBe(first.body);
    expect(turns).toHaveLength(20);
    await plenty.close();
  });
});

describe('the server', () => {
  const at = { host: '127.0.0.1', port: 0, portSetting: 'SAMPLE_PORT' };

  it('names a busy port and the setting that changes it', async () => {
    const address = await listen(app, at, '/busy');
    const other = await createApp({
      api: { title: '', description: '', version: '' },
      log: silentLog,
      errors: dialect,
    });
    const port = Number(new URL(address).port);
    await expect(listen(other, { ...at, port }, '/')).rejects.toThrow(
      `The address 127.0.0.1:${port} is in use. Stop what uses it, or choose another with SAMPLE_PORT.`,
    );
    await other.close();
  });

  it.each([
    ['192.0.2.1', 'The address 192.0.2.1 does not exist on this machine. Choose another with SAMPLE_HOST.'],
    [
      'no-such-host.invalid',
      /^The name no-such-host\.invalid leads to no address \(E\w+\)\. .* SAMPLE_HOST\.$/,
    ],
  ])('names the setting of the host for %s', async (host, message) => {
    const other = await createApp({
      api: { title: '', description: '', version: '' },
      log: silentLog,
      errors: dialect,
    });
    await expect(listen(other, { ...at, host }, '/')).rejects.toThrow(message);
    await other.close();
  });

  it('finishes a request in flight when it closes, and takes no new one', async () => {
    const address = await listen(app, at, '/busy');
    const inFlight = fetch(`${address}/busy`);
    await sleep(30);
    await closeGracefully(app, 5_000);
    expect(await (await inFlight).json()).toEqual({ done: true });
    await expect(fetch(`${address}/busy`)).rejects.toThrow('fetch failed');
  });

  it.each(['known', 'chunked'])(
    'answers a body of %s length that is too large, while it is still being sent',
    async (kind) => {
      const { port } = new URL(await listen(app, at, '/busy'));
      const size = 30_000_000;
      for (let round = 0; round < 5; round++) {
        const headers = kind === 'known' ? { 'content-length': size } : { 'transfer-encoding': 'chunked' };
        const sent = request({ port, method: 'POST', path: '/things', headers });
        const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
        sent.end(Buffer.alloc(size, ' '));
        const [answer] = await answered;
        answer.resume();
        expect(answer.statusCode).toBe(413);
        await once(answer, 'close');
      }
    },
  );

  it('takes a token of 800,000 bytes, and no endless one', async () => {
    const address = await listen(app, at, '/busy');
    const ask = async (bytes: number) =>
      (await fetch(`${address}/busy`, { headers: { authorization: `Bearer ${'a'.repeat(bytes)}` } })).status;
    expect(await ask(800_000)).toBe(200);
    expect(await ask(1_100_000)).toBe(431);
  });

  it.each([
    ['no request at all', 'hello\r\n\r\n', 400, 'this is no request of HTTP: Invalid method encountered'],
    [
      'a header without a colon',
      'GET /busy HTTP/1.1\r\nbad header\r\n\r\n',
      400,
      'this is no request of HTTP: ',
    ],
    [
      'a body of two lengths',
      'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
      400,
      'this is no request of HTTP: ',
    ],
    [
      'headers without an end',
      // Most of it is on its way yet when the answer is.
      `GET /busy HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000_000)}`,
      431,
      'the headers are too large',
    ],
  ])('answers %s in the dialect, and hangs up', async (_what, sent, status, message) => {
    const { port } = new URL(await listen(app, at, '/busy'));
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(sent);
    let text = '';
    for await (const piece of socket) text += piece;
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\ncontent-length: ${body.length}\r\n`, 's'));
    expect(JSON.parse(body)).toMatchObject({
      code: 'unreadable',
      message: expect.stringMatching(new RegExp(`^${message}`)),
    });
    // Besides the first one, which is the server's own.
    expect(lines.slice(1)).toEqual([]);
  });

  it('calls it no error when a client hangs up in the middle of a body', async () => {
    const { port } = new URL(await listen(app, at, '/busy'));
    const sent = request({ port, method: 'POST', path: '/things', headers: { 'content-length': 900 } });
    sent.on('error', () => {});
    sent.write('{"name":"');
    await vi.waitFor(() => expect(sent.socket?.bytesWritten).toBeGreaterThan(0));
    await sleep(50);
    sent.destroy();
    await sleep(200);
    expect(lines.filter(({ message }) => message !== 'request')).toEqual([]);
  });

  it.each([
    ['body', 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 999999999999\r\n\r\n'],
    ['line of headers', 'GET /busy HTTP/1.1\r\nhost: a\r\nx: '],
  ])('hangs up on a %s that never ends', { timeout: 20_000 }, async (_what, beginning) => {
    const { port } = new URL(await listen(app, at, '/busy'));
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}).resume();
    const gone = new Promise((resolve) => socket.once('close', resolve));
    socket.write(beginning);
    const flood = setInterval(() => socket.write(Buffer.alloc(4_000_000, 'a')), 5);
    await gone;
    clearInterval(flood);
  });

  it('ends the connection of a request that was answered and goes on coming', {
    timeout: 30_000,
  }, async () => {
    const { port } = new URL(await listen(app, at, '/busy'));
    const dribble = async (path: string) => {
      const socket = connect(Number(port));
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.on('error', () => {});
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n`,
      );
      const bytes = setInterval(() => socket.write(' '), 100);
      // It may see a reset, which is an end as well.
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(bytes);
      return received.split('\r\n')[0];
    };
    expect(await Promise.all(['/closed', '/things'].map(dribble))).toEqual([
      'HTTP/1.1 401 Unauthorized',
      'HTTP/1.1 504 Gateway Timeout',
    ]);
  });

  it('ends the connection of a client that does not take its answer, and of nobody who takes it slowly', {
    timeout: 60_000,
  }, async () => {
    const idleTimeoutMs = 3_000;
    await using patient = await createApp({
      api: { title: '', description: '', version: '' },
      log: silentLog,
      errors: dialect,
      idleTimeoutMs,
    });
    const large = 'x'.repeat(64 * 1024 * 1024); // more than the system takes off our hands
    patient.get('/large', () => large);
    patient.get('/', () => ({}));
    const port = Number(new URL(await listen(patient, at, '/')).port);
    const closes: Promise<unknown>[] = [];
    patient.server.on('connection', (socket) => closes.push(once(socket, 'close')));

    const asleep = connect(port);
    asleep.on('error', () => {});
    asleep.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
    await vi.waitFor(() => expect(closes).toHaveLength(1));
    await closes[0];
    asleep.destroy();

    const slow = connect(port);
    slow.write('GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    let received = 0;
    for await (const chunk of slow as AsyncIterable<Buffer>) {
      if (Math.floor(received / 8e6) < Math.floor((received + chunk.length) / 8e6)) await sleep(100);
      received += chunk.length;
    }
    expect(received).toBeGreaterThan(large.length);
  });

  it('cuts what is left after the grace time', async () => {
    const address = new URL(await listen(app, at, '/busy'));
    const idler = connect(Number(address.port), address.hostname);
    await once(idler, 'connect');
    idler.write('POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{');
    await sleep(20);
    const started = performance.now();
    await Promise.all([closeGracefully(app, 100), once(idler, 'close')]);
    expect(performance.now() - started).toBeGreaterThan(80);
  });
});
