import { describe, expect, test } from 'vitest';
import { endpoint } from '../src/index.ts';

const refusal = (option: string, position?: number) =>
  expect.objectContaining({ name: 'EndpointError', option, ...(position === undefined ? {} : { position }) });

describe('leaving the path segment', () => {
  test.each([
    ['/a/{x}', '.', 3],
    ['/a/{x}', '..', 3],
    ['/a/{x}/b', '..', 3],
    ['/a/:x', '..', 3],
    ['/a/:xy/:x', '..', 7],
    [':x', '..', 0],
    ['/a/{x}{y}', '.', 3],
    ['/a/.{x}/b', '.', 4],
    ['/a/%2e{x}', '.', 6],
    ['/a/{.x}', '.', 3],
    ['{x}', '..', 0],
    ['/a/{+x}', '../b', 3],
    ['/a/{+x}', 'b/../c', 3],
    ['/a/{+x}', 'b/%2E%2e/c', 3],
    ['/a/{+x}', 'b/.%2E', 3],
    ['https://h/a/{x}', '..', 12],
    ['https://h/{+x}', '../b', 10],
    ['https://h/a{/x}', '..', 11],
    ['{+x}', '../b', 0],
    ['{+x}', './/evil', 0],
    ['{+x}', '%2e%2E/b', 0],
    ['/a/{x}?b', '..', 3],
    ['/a/{x}#b', '..', 3],
    ['/a/{+x}', '..?b', 3],
    ['/a/{+x}', '..#b', 3],
  ])('%s with %j is refused', (url, x, position) => {
    expect(() => endpoint({ url, x, y: '.' })).toThrow(refusal('x', position));
    expect(() => endpoint.parse({ url, x, y: '.' })).toThrow(refusal('x', position));
  });

  // The template's own text, or what it makes of values that have no such segment as they are
  test.each([
    ['/a/../b', ''],
    ['/a/../{x}', 'b'],
    ['/./{x}', 'b'],
    ['../{x}', 'b'],
    ['..', ''],
    ['/a/%2E%2e?b', ''],
    ['https://h/../a', ''],
    ['https://h/..', ''],
    ['/a/{x}.', ''],
    ['/a/.{x}.', ''],
    ['/a/{x:2}/b', '..safe'],
    ['/a{/x*}', ['b', '..']],
  ])('%s with %j is refused in the name of the url', (url, x) => {
    expect(() => endpoint({ url, x })).toThrow(/^url at 0: dot segment$/);
  });

  test.each([
    ['/a/{x}', '...'],
    ['/a/{x}', '..a'],
    ['/a/{x}', '%2e%2e'],
    ['/a/{x}', '../b'],
    ['/a/b{x}', '..'],
    ['/a?b={x}', '../..'],
    ['/a{?x}', '..'],
    ['/a{#x}', '/../'],
  ])('%s with %j is not', (url, x) => {
    const path = new URL(endpoint({ url, x }).url).pathname;
    expect(path).toBe(
      new URL(endpoint({ url, x: 'safe' }).url).pathname.replace(
        'safe',
        x.replaceAll('/', '%2F').replaceAll('%2e', '%252e'),
      ),
    );
  });
});

describe('leaving it by other ways', () => {
  test('the value at fault is named, not its neighbour', () => {
    expect(() => endpoint('/x{/a,b}', { a: 'y', b: '..' })).toThrow(refusal('b', 2));
    expect(() => endpoint('/x/{a}/{b}', { a: 'y', b: '..' })).toThrow(refusal('b', 7));
  });

  test.each([
    Object.create(null),
    { toString: 1, valueOf: 2 },
    new (class {
      toString = 1;
      toJSON() {
        return 'y';
      }
    })(),
  ])('a neighbour that has no text of its own keeps nothing from being named: value %#', (a) => {
    expect(() => endpoint('/x/{a}/{b}', { a, b: '..' })).toThrow(refusal('b', 7));
  });

  test('a value that changes from look to look is looked at once', () => {
    for (const turn of [1, 2, 3, 4]) {
      let looks = 0;
      const options = Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => (++looks === turn ? '..' : 'safe'),
      });
      let { pathname } = new URL('http://h/api/v1/a/safe/b');
      try {
        pathname = new URL(endpoint('/a/{x}/b', options as { x: string }).url).pathname;
      } catch (error) {
        expect(error).toEqual(
          expect.objectContaining({ message: expect.stringMatching(/^(x at 3|url at 0): dot/) }),
        );
      }
      expect(pathname).toBe('/api/v1/a/safe/b');
    }
  });

  test.each([
    ['/a/{+x}', '..\\..\\b'],
    ['/a/{+x}', '.\t./b'],
    ['/a/{+x}', '.\n.'],
    ['/a/{+x}', '\uff0e\uff0e/b'],
    ['/a/{+x}', '..%5c..%5cb'],
    ['/a/{+x}', '..%2fb'],
    ['/a/{x*}', { '..': '' }],
    ['/a{/x*}', { a: '..', '..': 'b' }],
    ['/a/%2{x}', 'e'],
    ['/a/{x}', ['..', '..']],
    ['/a/{x}b', '..'],
    ['/a{;x}', '..'],
  ])('%s with %j stays below', (url, x) => {
    expect(new URL(endpoint({ url, x }).url).pathname).toMatch(/^\/api\/v1\/a(\/|;)/);
  });

  test('what comes before a value, or into it, does not hide it', () => {
    expect(() => endpoint('/\0/{x}', { x: '..' })).toThrow(refusal('x', 3));
    expect(endpoint('/a/{+x}{y}', { x: '\0', y: '..' }).url).toMatch(/\/a\/%00\.\.$/);
  });
});

describe('changing the host', () => {
  test.each([
    '//evil/x',
    'http://evil/x',
    '/\\evil',
    '\\\\evil',
    '@evil',
    ':80@evil',
    '.evil',
    '\t//evil',
    '?@evil',
  ])('%j as a value', (x) => {
    for (const url of [
      '{+x}',
      '/{+x}',
      '{x}',
      '{/x}',
      '{#x}',
      '{?x}',
      ':x',
      '//{x}',
      'https:{+x}',
      'https:/{+x}',
    ]) {
      expect(new URL(endpoint({ url, baseUrl: 'http://good', x }).url).host).toBe('good');
      expect(new URL(endpoint({ url, baseUrl: 'http://good/api/', x }).url).host).toBe('good');
    }
    for (const url of [
      'http://good/{+x}',
      'http://good/{/x}',
      'http://good/{?x}',
      'http://good#{x}',
      'http://good?{x}',
    ]) {
      expect(new URL(endpoint({ url, x }).url).host).toBe('good');
    }
  });

  test.each([
    'http://{x}/',
    'http://{+x}',
    'http://good{x}/',
    'http://good{.x}/',
    'http://good:{x}/',
    'http://{x}@good/',
    'http://good{/x}',
    'http://good{?x}',
    'http://good{#x}',
    'http://good{/y}{x}',
    'http://good{/y}.evil',
    'http://good{&x}',
    'http:///{x}',
    'http://?{x}',
    'http://',
  ])('a template %s without a fixed host is refused', (url) =>
    expect(() => endpoint({ url, x: 'evil' })).toThrow(/^url at 7: no host$/),
  );

  test.each(['', '/', '//', null, undefined])(
    'a base %j has no host, and no value gives it one',
    (baseUrl) => {
      for (const url of ['/{a}/{b}', '{a}/{b}', '/{a}{+b}', '/{a}{/b}', '{/a,b}', '/:a/:b', '/{a}//{b}']) {
        for (const b of ['evil', '/evil', '//evil']) {
          // as a browser resolves what is not absolute
          expect(new URL(endpoint.parse({ url, baseUrl, a: '', b }).url, 'http://good/page').host).toBe(
            'good',
          );
        }
      }
    },
  );

  test.each(['http:', 'http:/', 'http://', 'https:///', 'http:\\\\', 'https:/\\'])(
    'a base %s whose host a value would become is refused',
    (baseUrl) => {
      expect(() => endpoint({ url: '/{x}', baseUrl, x: 'evil' })).toThrow(/^baseUrl at 0: malformed$/);
    },
  );

  test('a base with a query or fragment would swallow the path', () => {
    expect(() => endpoint({ url: '/x', baseUrl: 'http://h/?a=' })).toThrow(/^baseUrl at 9: malformed$/);
    expect(() => endpoint({ url: '/x', baseUrl: 'http://h#' })).toThrow(/^baseUrl at 8: malformed$/);
  });
});

describe('injecting headers', () => {
  test.each(['a\r\nx: y', 'a\ny', 'a\ry', 'a\0y'])('the value %j is refused', (value) => {
    expect(() => endpoint('/x', { headers: { 'X-A': value } })).toThrow(refusal('x-a', 1));
    expect(() => endpoint('/x', { headers: { 'X-A': ['b', value] } })).toThrow(refusal('x-a', 4));
    expect(() => endpoint.defaults({ headers: { 'X-A': value } })).toThrow(refusal('x-a', 1));
    expect(() => endpoint.parse({ url: '/x', headers: { 'X-A': value } })).toThrow(refusal('x-a', 1));
  });

  test.each(['', 'a b', 'a:b', 'a\r\nb', 'ä', 'a\0'])('the name %j is refused', (name) => {
    expect(() => endpoint('/x', { headers: { [name]: '1' } })).toThrow(/^headers at [01]: malformed$/);
    expect(() => endpoint.parse({ url: '/x', headers: { [name]: '1' } })).toThrow(refusal('headers'));
  });

  test.each([{}, Symbol('a'), () => 1])('a value without text is refused', (value) => {
    expect(() => endpoint('/x', { headers: { a: value as never } })).toThrow(refusal('a'));
  });

  test.each(['GET /x HTTP/1.1\r\nHost: evil\r\n', 'A B', '', 'GET\0'])(
    'the method %j is refused',
    (method) => {
      expect(() => endpoint({ method, url: '/x' })).toThrow(refusal('method'));
    },
  );
});

describe('options of another type than promised', () => {
  const calls: [string, string, object][] = [
    ['a header as an object', 'a', { headers: { a: {} } }],
    ['a header list with null', 'a', { headers: { a: ['x', null] } }],
    ['a method as an object', 'method', { method: {} }],
    ['a url as an object', 'url', { url: {} }],
    ['a base url as a list', 'baseUrl', { baseUrl: [] }],
  ];
  test.each(calls)('%s', (_, option, options) => {
    expect(() => endpoint('/x', options)).toThrow(refusal(option));
  });
});
