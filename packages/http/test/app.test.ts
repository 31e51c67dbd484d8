import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@croft/failure';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { listen, type Reply, type Request } from '../src/index.ts';
import { emptyApp, useSampleApp } from './sample-app.ts';

const sample = useSampleApp();

const post = (payload: string, headers: Record<string, string> = {}) =>
  sample.app.inject({ method: 'POST', url: '/things', payload, headers });

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
    for (const key of ['__proto__', '\\u005f_proto__'])
      for (const body of [`{"name":"a","${key}":{"size":3}}`, `{"${key}":[{"${key}":1}],"name":"a"}`])
        expect((await post(body)).json()).toEqual({ name: 'a' });
  });
});

describe('forms', () => {
  const send = (
    payload: string,
    type = 'application/x-www-form-urlencoded',
    url = '/forms',
    app = sample.app,
  ) => app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });

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
    await using app = await emptyApp();
    app.post('/forms', { config: { form: true } }, () => ({}));
    const startedAt = performance.now();
    const answer = await send('a&'.repeat(500_000), undefined, undefined, app);
    expect(performance.now() - startedAt).toBeLessThan(200);
    expect([answer.statusCode, answer.json().message]).toEqual([400, 'the form has too many fields']);
  });
});

describe('routes', () => {
  it('that do not exist are 404 in the dialect', async () => {
    expect((await sample.app.inject('/nothing?token=secret')).json()).toMatchObject({
      code: 'no_route',
      message: 'GET /nothing',
    });
  });

  it.each(['PUT', 'DELETE', 'HEAD', 'PATCH'] as const)(
    'answer %s with 405 and Allow when they lack it',
    async (method) => {
      const answer = await sample.app.inject({ method, url: '/things/1' });
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
    const answer = await sample.app.inject({ method, url, ...(status === 405 ? { payload, headers } : {}) });
    expect(answer.statusCode).toBe(status);
    if (status === 405) expect(answer.headers['allow']).toBe('GET');
  });

  it('of a pattern serve what another one names for other methods only', async () => {
    expect((await sample.app.inject('/things/all')).json()).toEqual({ id: 'all' });
    const { statusCode, headers } = await sample.app.inject({ method: 'DELETE', url: '/things/all' });
    expect([statusCode, headers['allow']]).toEqual([405, 'GET, PUT']);
  });

  it.each([
    ['/things/1', 'GET, OPTIONS'],
    ['/things', 'OPTIONS, POST'],
  ])('answer OPTIONS %s with what there is: %s', async (url, allow) => {
    const answer = await sample.app.inject({ method: 'OPTIONS', url });
    expect([answer.statusCode, answer.headers['allow'], answer.body]).toEqual([204, allow, '']);
  });

  it('that do not exist have no options', async () => {
    for (const url of ['/nothing', `/things/${'1'.repeat(1_000_000)}`])
      expect((await sample.app.inject({ method: 'OPTIONS', url })).statusCode).toBe(404);
  });

  it.each(['/things/%zz', '/things/%00', `/things/${'x'.repeat(2000)}`])(
    'survive the path %s',
    async (url) => {
      expect((await sample.app.inject(url)).statusCode).toBeLessThan(500);
    },
  );
});

describe('what is no failure', () => {
  it('is answered without details and logged with them under the request id', async () => {
    const answer = await sample.app.inject({ url: '/bug', headers: { 'x-request-id': 'r-1' } });
    expect(answer.json()).toEqual({ code: 'unexpected', message: 'see the log', id: 'r-1' });
    expect(answer.headers['retry-after']).toBe('2');
    expect(sample.lines[0]).toMatchObject({
      message: 'request failed',
      fields: { requestId: 'r-1', error: { message: 'secret detail' } },
    });
  });

  it('times out in the dialect', async () => {
    expect((await sample.app.inject('/slow')).json().code).toBe('timeout');
  });
});

describe('headers of a success', () => {
  const MEANT = {
    'cache-control': 'public, max-age=3600',
    'content-disposition': 'attachment',
    'content-encoding': 'gzip',
    'content-length': '5',
    'content-range': 'bytes 0-4/9',
    etag: '"a"',
    'last-modified': 'Sat, 01 Jan 2000 00:00:00 GMT',
  };
  const KEPT = { vary: 'origin', 'access-control-allow-origin': '*', 'x-own': 'kept' };
  const ways: Record<string, (request: Request, reply: Reply) => unknown> = {
    'that throws': () => {
      throw new Failure('not-found', 'gone', 'gone');
    },
    'that takes too long': (request) => once(request.abandoned, 'abort'),
    'whose stream says nothing in time': (_request, reply) => reply.send(new PassThrough()),
  };

  it.each(Object.keys(ways))('are not those of the error in its place: of a handler %s', async (way) => {
    sample.app.get('/failing', (request, reply) => {
      reply.headers({ ...MEANT, ...KEPT });
      return ways[way]?.(request, reply);
    });
    const { json, headers } = await sample.app.inject('/failing');
    expect(json()).toHaveProperty('code');
    expect(headers).toMatchObject({ ...KEPT, 'content-type': 'application/json; charset=utf-8' });
    expect(Object.entries(MEANT).filter(([name, value]) => headers[name] === value)).toEqual([]);
  });

  it.each(['no-store', 'private, no-cache'])('stay where they forbid to keep it: %s', async (control) => {
    sample.app.get('/failing', (_request, reply) => {
      reply.header('cache-control', control);
      throw new Failure('not-found', 'gone', 'gone');
    });
    expect((await sample.app.inject('/failing')).headers['cache-control']).toBe(control);
  });
});

describe('work nobody waits for', () => {
  it('does not break off an answer that has begun, however long it takes', async () => {
    const address = await sample.app.listen({ port: 0, host: '127.0.0.1' });
    const answer = await fetch(`${address}/stream`);
    expect([answer.status, await answer.text()]).toEqual([200, 'begun, ended']);
  });

  it('is told when the time is over, after the answer', async () => {
    const answer = await sample.app.inject({ method: 'POST', url: '/waits', payload: '{"a":1}' });
    expect([answer.statusCode, sample.stopped]).toEqual([504, ['waits: the request took too long']]);
  });

  it.each<[string, (reply: Reply, body: Readable) => unknown]>([
    ['returns', (_reply, body) => body],
    ['sends', (reply, body) => reply.send(body)],
  ])('has a stream closed that it %s after the answer', async (_how, give) => {
    const body = new PassThrough();
    sample.app.get('/late', async (request, reply) => {
      await once(request.abandoned, 'abort');
      return give(reply, body);
    });
    expect((await sample.app.inject('/late')).json().code).toBe('timeout');
    await vi.waitFor(() => expect(body.destroyed).toBe(true));
  });

  it('is told when the client hangs up', async () => {
    const address = await listen(sample.app, { host: '127.0.0.1', port: 0, portSetting: '' }, '/busy');
    const hungUp = new AbortController();
    const asked = fetch(`${address}/long`, { signal: hungUp.signal });
    await sleep(50);
    hungUp.abort();
    await expect(asked).rejects.toThrow('aborted');
    await vi.waitFor(() => expect(sample.stopped).toEqual(['long: the client has gone']));
  });

  it('is not told anything else: a body that was read is no client that has gone', async () => {
    let seen: AbortSignal | undefined;
    sample.app.addHook('preHandler', (request, _reply, done) => {
      seen = request.abandoned;
      setTimeout(done, 50);
    });
    const address = await listen(sample.app, { host: '127.0.0.1', port: 0, portSetting: '' }, '/busy');
    const answer = await fetch(`${address}/things`, { method: 'POST', body: '{"name":"a"}' });
    expect([answer.status, seen?.aborted]).toEqual([200, false]);
  });
});

describe('the log', () => {
  it('has one line a request, with the pattern instead of the path', async () => {
    await sample.app.inject('/things/secret-name?token=t');
    expect(sample.lines).toHaveLength(1);
    expect(sample.lines[0]?.fields).toMatchObject({ method: 'GET', route: '/things/:id', status: 200 });
    expect(JSON.stringify(sample.lines)).not.toContain('secret-name');
  });
});

describe('/openapi.json', () => {
  it('describes the routes by their schemas and hides the rest', async () => {
    const document = (await sample.app.inject('/openapi.json')).json();
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Sample', version: '1.2.3' } });
    expect(Object.keys(document.paths['/things'])).toEqual(['post']);
    expect(document.paths['/things'].post.requestBody.content['application/json'].schema.required).toEqual([
      'name',
    ]);
  });

  it('names the rest of a path, apart from what is in the query', async () => {
    const app = await emptyApp();
    app.get('/files/*', { schema: { querystring: z.object({ ref: z.string() }) } }, () => '');
    app.get('/archives/*', { schema: { querystring: z.object({ path: z.string() }) } }, () => '');
    const { paths } = (await app.inject('/openapi.json')).json();
    const named = (path: string) =>
      paths[path].get.parameters.map((one: { in: string; name: string }) => `${one.in} ${one.name}`).sort();
    expect(named('/files/{path}')).toEqual(['path path', 'query ref']);
    expect(named('/archives/{rest}')).toEqual(['path rest', 'query path']);
    await app.close();
  });

  it('is made route by route, with turns of the event loop for other requests in between', async () => {
    const plenty = await emptyApp();
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
