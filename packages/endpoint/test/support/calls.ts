import { EndpointError, endpoint, expand, toFetch } from '@croft/endpoint';
import type { Echo } from './echo-server.ts';
import { sections } from './rfc6570-examples.ts';

const json = 'application/json; charset=utf-8';

interface Call {
  wanted: unknown;
  run(base: string): unknown;
}

/**
 * What a user does with the package, on the web platform alone, so that it runs in a browser as well as in Node:
 * each sends to the server of echo-server.ts and returns what is `wanted`.
 */
export const calls: Record<string, Call> = {
  ...Object.fromEntries(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method)),
  HEAD: {
    wanted: [200, 'HEAD', '/x?a=1', ''],
    async run(base) {
      const { status, headers, text } = await send(base, 'HEAD /x', { a: 1 });
      return [status, headers.get('x-method'), headers.get('x-url'), text];
    },
  },
  'a list in JSON': body([1, null, 'ä', new Date(0)], '[1,null,"ä","1970-01-01T00:00:00.000Z"]', json),
  'a bigint in JSON': body(
    { id: 9007199254740991n, text: '1n', list: [-1n] },
    '{"id":9007199254740991,"text":"1n","list":[-1]}',
    json,
  ),
  'half a surrogate pair': {
    wanted: ['http://h/%EF%BF%BD?a=%EF%BF%BD', 'http://h/%EF%BF%BD?a=%EF%BF%BD'],
    run() {
      const { url } = endpoint('http://h/{+b}', { a: '\ud800', b: '\udc00' });
      return [url, new URL('http://h/\udc00?a=\ud800').href];
    },
  },
  text: body('text ä', 'text ä', 'text/plain;charset=utf-8'),
  bytes: body(new TextEncoder().encode('bytes'), 'bytes', null),
  Blob: body(new Blob(['blob'], { type: 'image/png' }), 'blob', 'image/png'),
  URLSearchParams: body(
    new URLSearchParams({ a: 'b c' }),
    'a=b+c',
    'application/x-www-form-urlencoded;charset=utf-8',
  ),
  FormData: {
    wanted: [true, true],
    async run(base) {
      const data = new FormData();
      data.set('field', new Blob(['content']), 'name.txt');
      const { echo } = await send(base, 'POST /x', { data });
      const boundary = /^multipart\/form-data; *boundary=(.+)$/.exec(echo.headers['content-type'] ?? '')?.[1];
      return [echo.body.startsWith(`--${boundary}`), echo.body.includes('filename="name.txt"')];
    },
  },
  'a stream is a body that fetch takes': {
    wanted: ['stream', 'half', null],
    async run() {
      const [url, init] = toFetch(endpoint('POST http://h/x', { data: new Blob(['stream']).stream() }));
      const request = new Request(url, init);
      const { duplex } = init as { duplex?: unknown };
      // Chromium calls it text, Node nothing.
      const type = request.headers.get('content-type')?.replace(/^text\/plain.*/, '') || null;
      return [await request.text(), duplex, type];
    },
  },
  'Headers, a Map, pairs and an object': {
    wanted: ['1', '2', '3', '4, 5'],
    async run(base) {
      const withHeaders = endpoint.defaults({ headers: new Headers({ 'X-A': '1' }) });
      const withMap = withHeaders.defaults({ headers: new Map([['X-B', '2']]) });
      const withPairs = withMap.defaults({ headers: [['X-C', 3]] });
      const [url, init] = toFetch(withPairs(`${base}/x`, { headers: { 'X-D': ['4', '5'] } }));
      const { headers } = (await (await fetch(url, init)).json()) as Echo;
      return ['x-a', 'x-b', 'x-c', 'x-d'].map((name) => headers[name]);
    },
  },
  'a signal aborts': {
    wanted: ['AbortError', 'AbortError'],
    run: (base) =>
      Promise.all(
        [0, 20].map(async (delay) => {
          const controller = new AbortController();
          if (delay) setTimeout(() => controller.abort(), delay);
          else controller.abort();
          try {
            await send(base, '/never', { request: { signal: controller.signal } });
            return 'answered';
          } catch (error) {
            return (error as Error).name;
          }
        }),
      ),
  },
  'a refusal': {
    wanted: [true, true, 'EndpointError', 'repo', 3, 'repo at 3: dot segment'],
    run() {
      try {
        return endpoint('/x/{repo}', { repo: '..' });
      } catch (error) {
        const { name, option, position, message } = error as EndpointError;
        return [error instanceof EndpointError, error instanceof Error, name, option, position, message];
      }
    },
  },
  'defaults, merge and parse': {
    wanted: ['http://h/a/b?c=1', 'http://h/a/b?c=1', true],
    run() {
      const ours = endpoint.defaults({ baseUrl: 'http://h', name: 'b' });
      const merged = ours.merge('/a/{name}', { c: 1 });
      return [ours('/a/{name}', { c: 1 }).url, endpoint.parse(merged).url, Object.isFrozen(ours.DEFAULTS)];
    },
  },
  ...Object.fromEntries(
    sections.map(([section, rows]) => [
      `RFC 6570 section ${section}`,
      {
        wanted: rows.map(([, , expansion]) => expansion),
        run: () => rows.map(([template, values]) => expand(template, values)),
      },
    ]),
  ),
};

/**
 * Makes every call; what one throws is its result, in words.
 * @public used by programs that the tests bundle
 */
export async function makeCalls(base: string): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    try {
      results[name] = await call.run(base);
    } catch (error) {
      results[name] = String(error);
    }
  }
  return results;
}

function method(name: string): [string, Call] {
  const isQuery = name === 'GET';
  const wanted = isQuery
    ? [name, '/x/b%20c?title=%C3%A4', '', null]
    : [name, '/x/b%20c', '{"title":"ä"}', json];
  const run = (base: string) => sent(base, `${name} /x/{a}`, { a: 'b c', title: 'ä' });
  return [name, { wanted, run }];
}

function body(data: unknown, wanted: string, type: string | null): Call {
  return { wanted: ['POST', '/x', wanted, type], run: (base) => sent(base, 'POST /x', { data }) };
}

async function sent(base: string, route: string, options: object): Promise<unknown[]> {
  const { method, url, body, headers } = (await send(base, route, options)).echo;
  // Some write the charset of text in capitals.
  const type = headers['content-type']?.replace('UTF-8', 'utf-8') ?? null;
  return [method, url, body, type];
}

async function send(baseUrl: string, route: string, options: object) {
  const response = await fetch(...toFetch(endpoint(route, { baseUrl, ...options })));
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, echo: readEcho(text) };
}

function readEcho(text: string): Echo {
  return JSON.parse(text || '{}') as Echo;
}
