import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { endpoint } from './endpoint.ts';

const base = 'http://127.0.0.1:3000/api/v1';

// Rows of: route, options, url after the base
const urls: Record<string, [string, Record<string, unknown>, string][]> = {
  'placeholders: {name} and :name encode alike': [
    ['GET /repos/{owner}/{repo}', { owner: 'a/b', repo: 'c d' }, '/repos/a%2Fb/c%20d'],
    ['GET /repos/:owner/:repo', { owner: 'a/b', repo: 'c d' }, '/repos/a%2Fb/c%20d'],
    ['GET /compare/:base...:head', { base: 'main', head: 'x' }, '/compare/main...x'],
    ['GET /:a-b/:cD', { a: 1, cD: 2 }, '/1-b/2'],
    ['GET /at/12:30/:x_1', { x_1: 1 }, '/at/12:30/1'],
    [
      'GET /:base...octocat:Patch-1/:_x',
      { base: 'main', Patch: 1, _x: 2 },
      '/main...octocat:Patch-1/:_x?Patch=1&_x=2',
    ],
    [
      'GET /{user-id}/{-x}{?to-status,a.b-c*}',
      { 'user-id': 1, '-x': 2, 'to-status': 'read', 'a.b-c': [3, 4] },
      '/1/2?to-status=read&a.b-c=3&a.b-c=4',
    ],
    ['GET /x/{a:2}', { a: 'abc' }, '/x/ab'],
    ['GET /x/{missing}/y', {}, '/x//y'],
  ],
  'query: everything else, names and values encoded': [
    ['GET /x', { a: 1, b: 'c d', 'e&f=g': true }, '/x?a=1&b=c%20d&e%26f%3Dg=true'],
    ['HEAD /x', { a: 1 }, '/x?a=1'],
    ['/x?a=1', { b: 2 }, '/x?a=1&b=2'],
    ['/x?', { b: 2 }, '/x?&b=2'],
    ['/x?a=1&', { b: 2 }, '/x?a=1&&b=2'],
    ['/x{?a}', { a: 1, b: 2 }, '/x?a=1&b=2'],
    ['/x#top', { b: 2 }, '/x?b=2#top'],
    ['/x?a=1{#at}', { b: 2, at: 'b?c' }, '/x?a=1&b=2#b?c'],
    ['/x', { q: 'is:open+label:a b' }, '/x?q=is%3Aopen+label%3Aa%20b'],
    ['/x', { q: 42 }, '/x?q=42'],
    ['/x{?q}', { q: 'a+b' }, '/x?q=a%2Bb'],
  ],
  'query: values': [
    ['/x', { a: [1, 2, null, 'b,c'] }, '/x?a=1%2C2%2Cb%2Cc'],
    ['/x{?a*}', { a: [1, 2] }, '/x?a=1&a=2'],
    [
      '/x',
      { a: new Date(0), b: 10n ** 20n, c: false, d: '', e: 0 },
      '/x?a=1970-01-01T00%3A00%3A00.000Z&b=100000000000000000000&c=false&d=&e=0',
    ],
    ['/x', { a: null, b: undefined, c: [], d: [null], e: {} }, '/x'],
    ['/x', { a: { b: 1, 'c&d': 'e,f', g: null } }, '/x?a=b%2C1%2Cc%26d%2Ce%2Cf'],
    ['/x', { a: '\ud800' }, '/x?a=%EF%BF%BD'],
  ],
  'names used by the template are not emitted again': [
    ['/x/{a:3}', { a: 'abcdef' }, '/x/abc'],
    ['/x{?a*,b}', { a: 1, b: 2 }, '/x?a=1&b=2'],
    ['/x/{a}/{a}', { a: 1 }, '/x/1/1'],
    ['/x/{a}', { a: null }, '/x'],
  ],
  'constructor and prototype are names like any other': [
    ['/{constructor}/:prototype', { constructor: 1, prototype: 2 }, '/1/2'],
    ['/{constructor}{?toString}', {}, '/'],
    ['/x', { constructor: 1, prototype: 2, valueOf: 3 }, '/x?constructor=1&prototype=2&valueOf=3'],
  ],
  'a trailing slash goes unless it is the whole path': [
    ['/', {}, '/'],
    ['', {}, '/'],
    ['/a/', {}, '/a'],
    ['/a//', {}, '/a/'],
    ['/a{/b}', { b: '' }, '/a'],
    ['/a/', { b: 1 }, '/a?b=1'],
    ['/a?b=c/', {}, '/a?b=c/'],
    ['/a#b/', {}, '/a#b/'],
    ['/a/{b}', { b: '/' }, '/a/%2F'],
  ],
  'exactly one slash at the join': [
    ['a', {}, '/a'],
    ['//a', {}, '/a'],
    ['{a}', { a: 'b' }, '/b'],
    ['{+a}', { a: '//b' }, '/b'],
    ['/{+a}', { a: '/b' }, '/b'],
    ['{/a}', { a: 'b' }, '/b'],
    ['{?a}', { a: 'b' }, '/?a=b'],
    ['/{a}/b', { a: '' }, '/b'],
    ['/{a}/{b}/{c}', { c: 'd' }, '/d'],
    ['/a/{b}/c', {}, '/a//c'],
  ],
};

describe.each(Object.entries(urls))('%s', (_, rows) => {
  test.each(rows)('%s', (route, options, url) => expect(endpoint(route, options).url).toBe(base + url));
});

test.each([
  ['http://h', '/a', 'http://h/a'],
  ['http://h/', '/a', 'http://h/a'],
  ['http://h/v1//', 'a', 'http://h/v1/a'],
  ['http://h', '/', 'http://h/'],
  ['', '/a', '/a'],
  [null, '//a', '/a'],
])('base %s and %s make %s', (baseUrl, url, result) => expect(endpoint({ baseUrl, url }).url).toBe(result));

test.each([
  ['https://h', 'https://h'],
  ['https://h/', 'https://h/'],
  ['https://h/v3/', 'https://h/v3'],
  ['HTTPS://h/x', 'HTTPS://h/x'],
  ['ftp://user:password@h:21/:a', 'ftp://user:password@h:21/1'],
  ['https://h:8080/{a}{?b}', 'https://h:8080/1?b=2'],
  ['https://h/{?b}', 'https://h/?b=2&a=1'],
  ['https://h?c=3{&b}', 'https://h?c=3&b=2&a=1'],
  ['https://h#top', 'https://h#top'],
  ['https://münchen.example/{a}', 'https://m%C3%BCnchen.example/1'],
  ['httpd/logs', `${base}/httpd/logs`],
  ['https:x', `${base}/https`],
])('%s is absolute only by its own scheme', (url, result) => {
  const has = (pattern: RegExp, values: object) => (pattern.test(url) ? values : {});
  expect(endpoint({ url, ...has(/\{.*\}|:a/, { a: 1 }), ...has(/[?&]b/, { b: 2 }) }).url).toBe(result);
});

test.each([
  ['GET /x', 'get', '/x'],
  ['/x', 'get', '/x'],
  ['  patch \t /x ', 'patch', '/x'],
  ['GET  /x', 'get', '/x'],
  ['GET\t/x', 'get', '/x'],
  ['GET /a b', 'get', '/a%20b'],
  ['/a b', 'get', '/a%20b'],
  ['M-SEARCH /x', 'm-search', '/x'],
  ['GET', 'get', '/GET'],
])('the route %j is %s %s', (route, method, url) =>
  expect(endpoint(route)).toMatchObject({ method, url: base + url }),
);

test('parameters become the body of every method but GET and HEAD, and only then is there one', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'Link']) {
    const { headers, ...rest } = endpoint(`${method} /x/{a}`, { a: 1, b: [null], c: null, d: undefined });
    expect(rest).toStrictEqual({
      method: method.toLowerCase(),
      url: `${base}/x/1`,
      body: { b: [null], c: null },
    });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    const empty = endpoint(`${method} /x/{a}`, { a: 1, d: undefined });
    expect(Object.keys(empty)).toEqual(['method', 'url', 'headers']);
    expect(empty.headers).not.toHaveProperty('content-type');
  }
  for (const method of ['GET', 'HEAD'])
    expect(endpoint(`${method} /x`, { a: 1, data: { b: 1 } })).not.toHaveProperty('body');
});

test('a body called body is a parameter like any other', () => {
  expect(endpoint('POST /x', { body: 'text' }).body).toEqual({ body: 'text' });
});

test('an empty content type is none', () => {
  const { headers } = endpoint('POST /x', { a: 1, headers: { 'Content-Type': '' } });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
});

test('data is the body itself, whatever it is; without a value it is none', () => {
  for (const data of [{ a: 1 }, [1], null, 0, false]) {
    const { body, headers } = endpoint('POST /x', { data, other: 1 });
    expect(body).toBe(data);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  }
  expect(endpoint('POST /x', { data: undefined, a: 1 }).body).toEqual({ a: 1 });
  expect(endpoint('POST /x/{data}', { data: 'a' })).not.toHaveProperty('body');
});

test('text, bytes, forms and streams are bodies without a JSON content type', () => {
  const bodies = [
    'text',
    '',
    new FormData(),
    new URLSearchParams('a=1'),
    new Blob(['a']),
    new File(['a'], 'b'),
    new ArrayBuffer(1),
    new Uint8Array(1),
    Buffer.from('a'),
    new DataView(new ArrayBuffer(1)),
    new ReadableStream(),
    Readable.from(['a']),
    (async function* () {})(),
  ];
  for (const data of bodies) {
    const { body, headers } = endpoint('POST /x', { data });
    expect(body).toBe(data);
    expect(headers).not.toHaveProperty('content-type');
  }
  expect(endpoint('POST /x', { data: { pipe: 1, getReader: 2 } }).headers).toHaveProperty('content-type');
});

test('query parameters can be declared beside a body', () => {
  const options = { name: 'a b', label: 'c', headers: { 'content-type': 'text/plain' }, data: 'Hello' };
  expect(endpoint('POST https://h/assets{?name,label}', options)).toMatchObject({
    url: 'https://h/assets?name=a%20b&label=c',
    headers: { 'content-type': 'text/plain' },
    body: 'Hello',
  });
});

test.each(['url', 'method', 'baseUrl', 'headers', 'mediaType', 'request', '__proto__'])(
  '%s is a setting, never a placeholder',
  (name) => {
    const isText = name.startsWith('_'); // a `:name` begins with a letter
    if (isText) expect(endpoint(`/a/:${name}`, { a: 1 }).url).toBe(`${base}/a/:${name}?a=1`);
    const colon = isText ? [] : [`/a/:${name}`];
    for (const url of [`/a/{${name}}`, `/a/{?b,${name}*}`, ...colon, `https/{+${name}:3}`]) {
      const refused = expect.objectContaining({ option: 'url', position: url.search(/[{:]/) });
      expect(() => endpoint(url), url).toThrow(refused);
    }
  },
);

test('a header value is text', () => {
  const headers = { a: 1, b: 10n ** 20n, c: false, d: new Date(0), e: '', f: ['g', 'h'] };
  // @ts-expect-error HTTP writes a date in another way: give its toUTCString()
  expect(endpoint.parse({ url: '/x', headers }).headers).toEqual({
    a: '1',
    b: '100000000000000000000',
    c: 'false',
    d: '1970-01-01T00:00:00.000Z',
    e: '',
    f: 'g, h',
  });
});

test('request is returned as the same object unless there is a default to merge it over', () => {
  const request = { timeout: 5 };
  expect(endpoint('/x', { request }).request).toBe(request);
  expect(endpoint('/x')).not.toHaveProperty('request');
  const retrying = endpoint.defaults({ request: { retries: 1 } });
  expect(retrying('/x', { request }).request).toEqual({ retries: 1, timeout: 5 });
  expect(request).toEqual({ timeout: 5 });
});

test('request.strict asks for a value of every placeholder that is not optional', () => {
  const strict = endpoint.defaults({ request: { strict: true } });
  const required = { a: 1, b: 'c' };
  expect(strict('/{a}/:b{/c}{?d}{&e}{#f}{;g}{.h}', required).url).toBe(`${base}/1/c`);
  for (const value of [undefined, null, '', [], {}]) {
    const refused = expect.objectContaining({ option: 'b', position: 5, message: 'b at 5: missing' });
    expect(() => strict('/{a}/{+b}' as string, { a: 1, b: value })).toThrow(refused);
    expect(() => strict('/{a}/:b' as string, { a: 1, b: value })).toThrow(refused);
  }
});

test('the position of a :name is its own, whatever the host has in it', () => {
  const strict = endpoint.defaults({ request: { strict: true } });
  const rows: [string, number][] = [
    ['http://u:a@h/:a', 13],
    ['http://h/x{?a:3}/:a', 17],
    ['/:ab/:a', 5],
    ['x/:a', 2],
    ['//x/:a', 4],
  ];
  for (const [url, position] of rows) {
    expect(() => strict({ url, ab: 1 }), url).toThrow(expect.objectContaining({ option: 'a', position }));
  }
});

test('parse needs no defaults', () => {
  expect(endpoint.parse({ url: '/a/{b}', b: 1, headers: { 'X-A': '1' } })).toEqual({
    method: 'get',
    url: '/a/1',
    headers: { 'x-a': '1' },
  });
});
