import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint, type RequestParameters, toFetch } from '../src/index.ts';

// A real server that answers with what it received
const server = createServer(async (request: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.url === '/silence') return;
  if (request.url === '/redirect') response.writeHead(302, { location: '/elsewhere' });
  const { method, url, headers } = request;
  response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
});

async function* generated() {
  yield new TextEncoder().encode('gene');
  yield new TextEncoder().encode('rated');
}

let send: (
  route: string,
  options?: RequestParameters,
) => Promise<{ method: string; url: string; headers: Record<string, string>; body: string }>;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const local = endpoint.defaults({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  send = async (route, options) => (await fetch(...toFetch(local(route, options)))).json() as never;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('every method arrives', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s', async (method) => {
    const received = await send(`${method} /x/{a}`, { a: 'b c', title: 'ä' });
    const isQuery = method === 'GET';
    expect(received).toMatchObject({
      method,
      url: `/x/b%20c${isQuery ? '?title=%C3%A4' : ''}`,
      body: isQuery ? '' : '{"title":"ä"}',
    });
    expect(received.headers).toMatchObject({
      accept: 'application/vnd.croft.v3+json',
      'user-agent': endpoint.DEFAULTS.headers['user-agent'],
    });
    expect(received.headers['content-type']).toBe(isQuery ? undefined : 'application/json; charset=utf-8');
  });

  test.each(['PUT', 'PATCH', 'POST', 'DELETE'])('%s without a body', async (method) => {
    const received = await send(`${method} /x`);
    expect(received).toMatchObject({ method, body: '' });
    expect(received.headers).not.toHaveProperty('content-type');
  });

  test.each(['get', 'Post', 'pUt', 'patch', 'PaTcH', 'delete', 'options', 'QUERY', 'm-search', 'Purge'])(
    '%s, spelled like that',
    async (method) => {
      const received = await send(`${method} /x`, { method });
      expect([received.method, endpoint({ method }).method]).toEqual([
        method.toUpperCase(),
        method.toLowerCase(),
      ]);
    },
  );

  test('HEAD', async () => {
    const port = (server.address() as AddressInfo).port;
    const response = await fetch(...toFetch(endpoint('HEAD /x', { baseUrl: `http://127.0.0.1:${port}` })));
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});

describe('every body arrives', () => {
  test.each([
    ['text', 'text', 'text', /^text\/plain/],
    ['bytes', new TextEncoder().encode('bytes'), 'bytes', undefined],
    ['a blob', new Blob(['blob'], { type: 'image/png' }), 'blob', /^image\/png$/],
    ['a form', new URLSearchParams({ a: 'b c' }), 'a=b+c', /^application\/x-www-form-urlencoded/],
    ['a web stream', new Blob(['stream']).stream(), 'stream', undefined],
    ['a Node stream', Readable.from([Buffer.from('no'), Buffer.from('de')]), 'node', undefined],
    ['an async generator', generated(), 'generated', undefined],
    ['a data view', new DataView(new TextEncoder().encode('view').buffer), 'view', undefined],
    ['no bytes', new ArrayBuffer(0), '', undefined],
    ['a file', new File(['file'], 'a.txt', { type: 'text/csv' }), 'file', /^text\/csv$/],
    ['empty text', '', '', /^text\/plain/],
    ['a number', 0, '0', /^application\/json/],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"', /^application\/json/],
    [
      'what has a toJSON',
      new (class {
        toJSON() {
          return { a: 1 };
        }
      })(),
      '{"a":1}',
      /^application\/json/,
    ],
    ['null', null, 'null', /^application\/json/],
    ['a list', [1, new Date(0)], '[1,"1970-01-01T00:00:00.000Z"]', /^application\/json/],
    [
      'a bigint',
      { id: 9007199254740991n, list: [-9007199254740991n, 0n] },
      '{"id":9007199254740991,"list":[-9007199254740991,0]}',
      /^application\/json/,
    ],
  ])('%s', async (_, data, body, type) => {
    const received = await send('POST /x', { data });
    expect(received.body).toBe(body);
    if (type) expect(received.headers['content-type']).toMatch(type);
    else expect(received.headers).not.toHaveProperty('content-type');
  });

  test('a multipart form, with its boundary', async () => {
    const data = new FormData();
    data.set('a', 'b');
    const { headers, body } = await send('POST /x', { data });
    expect(body).toContain(headers['content-type']?.split('boundary=')[1]);
  });
});

describe('what JSON cannot say ends in its own error', () => {
  const cycle: { a?: object } = {};
  cycle.a = cycle;

  test.each([
    ['a cycle', cycle],
    ['a bigint that is no number', { id: 9007199254740992n }],
    ['a negative one', [-9007199254740993n]],
  ])('%s', (_, data) => {
    expect(() => toFetch(endpoint('POST /x', { data }))).toThrow(TypeError);
  });

  test('what throws on the way is thrown', () => {
    const data = {
      toJSON() {
        throw new RangeError('no');
      },
    };
    expect(() => toFetch(endpoint('POST /x', { data }))).toThrow(new RangeError('no'));
  });
});

test('what has a tag or can be iterated asynchronously is no JSON and goes as it is', () => {
  class Tagged {
    get [Symbol.toStringTag]() {
      return 'Tagged';
    }
  }
  for (const data of [new Map(), new Set(), Promise.resolve(), new Headers(), new Tagged(), generated()]) {
    const options = endpoint('POST /x', { data });
    expect(options.headers).not.toHaveProperty('content-type');
    expect(toFetch(options)[1].body).toBe(data);
  }
});

test.each([() => 1, Symbol('a')])('what JSON leaves out is no body: value %#', (data) => {
  expect(toFetch(endpoint('POST /x', { data }))[1].body).toBeUndefined();
});

test('no body stays none, and the headers are those of the options', () => {
  const options = endpoint('POST /x');
  const [url, init] = toFetch(options);
  expect(url).toBe(options.url);
  expect(init.body).toBeUndefined();
  expect(init.headers).toBe(options.headers);
});

test('all is half-duplex: what a stream needs, and the only value there is', () => {
  for (const data of [new ReadableStream(), Readable.from([]), generated(), 'text', { a: 1 }, undefined]) {
    const [url, init] = toFetch(endpoint('POST /x', { data }));
    expect(init).toHaveProperty('duplex', 'half');
    expect(new Request(url, init).method).toBe('POST');
  }
});

test('a signal ends a request under way', async () => {
  const controller = new AbortController();
  const answer = send('/silence', { request: { signal: controller.signal } });
  setTimeout(() => controller.abort(new Error('enough')), 50);
  await expect(answer).rejects.toThrow('enough');
});

test('signal, redirect and other settings come from request', async () => {
  await expect(send('/x', { request: { signal: AbortSignal.abort() } })).rejects.toThrow(/abort/i);
  await expect(send('/redirect', { request: { redirect: 'error' } })).rejects.toThrow();
  expect((await send('/redirect')).url).toBe('/elsewhere');
  const request = { method: 'PUT', body: 'x', headers: { a: 'b' }, cache: 'no-store' };
  expect(toFetch(endpoint('/x', { request }))[1]).toMatchObject({
    method: 'GET',
    cache: 'no-store',
    headers: endpoint.DEFAULTS.headers,
  });
  expect(toFetch(endpoint('/x', { request }))[1].body).toBeUndefined();
});

test('header values of every kind arrive', async () => {
  const { headers } = await send('/x', { headers: { a: 1, b: ['c', 'd'], 'user-agent': null } });
  expect(headers).toMatchObject({ a: '1', b: 'c, d', 'user-agent': 'node' });
});
