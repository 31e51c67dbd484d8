import { describe, expect, test } from 'vitest';
import { endpoint, toFetch } from '../src/index.ts';

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

describe('reaching a prototype', () => {
  const attack =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}}';
  const nested = `{"mediaType":${attack},"request":${attack},"a":${attack},"b":[${attack}]}`;

  const expectNothingPolluted = () => {
    const { prototype } = Object;
    expect(Object.getOwnPropertyNames(prototype)).not.toContain('polluted');
    for (const value of [{}, [], () => 1, 'text', new Map()]) expect(value).not.toHaveProperty('polluted');
  };

  test.each([attack, nested])('%s', (text) => {
    const plain = endpoint.defaults({ a: { x: 1 }, request: { y: 1 } });
    const builder = plain.defaults(JSON.parse(text)).defaults(JSON.parse(text));
    const merged = builder.merge('POST /x', JSON.parse(text));
    for (const value of [
      merged,
      merged.headers,
      merged.mediaType,
      merged.request,
      merged.a,
      builder.DEFAULTS,
      builder.DEFAULTS.mediaType,
      builder.DEFAULTS.a,
      builder('POST /x', JSON.parse(text)).body,
      endpoint('POST /x', JSON.parse(attack)).body,
      endpoint.parse({ method: 'POST', url: '/x', ...JSON.parse(text) }).body,
      {},
    ]) {
      expect(value).not.toHaveProperty('polluted');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.keys(value as object)).not.toContain('__proto__');
    }
    expect(merged.headers).toEqual(endpoint.DEFAULTS.headers);
    expectNothingPolluted();
  });

  test('constructor and prototype are names like any other, and arrive', () => {
    const values = '{"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}}';
    const builder = endpoint.defaults({ a: JSON.parse(attack), ...JSON.parse(attack) });
    expect(builder('POST /x').body).toEqual({ a: JSON.parse(values), ...JSON.parse(values) });
    expect(builder('POST /x', JSON.parse(attack)).body).toEqual(builder('POST /x').body);
    expect(() => endpoint('/x', JSON.parse(values))).toThrow(refusal('constructor', 0));
    expect(endpoint('/{constructor*}', { constructor: { prototype: 1 } } as never).url).toMatch(
      /\/prototype=1$/,
    );
    expect(() => endpoint('/x', { headers: JSON.parse(values) })).toThrow(refusal('constructor', 0));
    const { headers } = endpoint('/x', { headers: { Constructor: 'a', prototype: 'b' } as never });
    expect(headers).toEqual({ ...endpoint.DEFAULTS.headers, constructor: 'a', prototype: 'b' });
    expectNothingPolluted();
  });

  test('`__proto__` is ignored wherever something is copied', () => {
    const text = '{"__proto__":{"x":1},"a":{"__proto__":{"x":1},"b":{"__proto__":1,"c":[{"__proto__":2}]}}}';
    const { a } = endpoint.defaults(JSON.parse(text)).merge();
    expect(a).toStrictEqual({ b: { c: [{}] } });
    expect(endpoint('/x', JSON.parse('{"__proto__":{"a":1}}'))).toEqual(endpoint('/x'));
    // What is in the body of a call is the caller's, and goes as it came.
    const body = JSON.parse(text).a;
    expect(endpoint('POST /x', { body }).body).toEqual({ body });
    expect((endpoint('POST /x', { body }).body as { body: object }).body).toBe(body);
  });

  test('inherited properties are no options', () => {
    const options = Object.create({ url: '/evil', a: 1, baseUrl: 'http://evil', headers: { x: '1' } });
    expect(endpoint(options)).toEqual(endpoint('/'));
    // Settings given to `parse` may be inherited, parameters may not.
    expect(endpoint.parse(Object.create({ url: '/x', a: 1 }))).toEqual(endpoint.parse({ url: '/x' }));
    expect(endpoint.parse(Object.assign(Object.create({ a: 1 }), { url: '/{a}' })).url).toBe('/');
    expect(endpoint.defaults(options).DEFAULTS).toEqual(endpoint.DEFAULTS);
    expect(endpoint('/{toString}{hasOwnProperty}{valueOf}' as string).url).toBe(endpoint('/').url);
  });
});

describe('a polluted Object.prototype', () => {
  const polluted = <T>(key: string, value: unknown, call: () => T): T => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype[key] = value;
    try {
      return call();
    } finally {
      delete prototype[key];
    }
  };

  test.each([
    ['strict', true],
    ['data', 'evil'],
    ['a', 'evil'],
    ['accept', 'evil/evil'],
    ['user-agent', 'evil'],
  ])('%s has no say', (key, value) => {
    const calls = [
      () => endpoint('POST /x/{a}' as string, { b: 1 }),
      () => endpoint({ b: 1 }),
      () => endpoint.parse({ b: 1 }),
      () => endpoint.parse({ url: '/x', headers: { accept: 'application/vnd.a+json' } }),
      () => endpoint.parse({ method: 'POST', url: '/graphql', headers: {}, mediaType: {}, b: 1 }),
      () => endpoint.defaults({ mediaType: {} }).defaults({ c: 1 })('POST /graphql', { request: {} }),
    ];
    for (const call of calls) {
      const clean = JSON.stringify(call());
      expect(polluted(key, value, () => JSON.stringify(call()))).toBe(clean);
    }
  });

  test.each(['__proto__', '__PROTO__', '__Proto__'])('a header named %s is ignored', (name) => {
    for (const value of ['x', null, ['x']]) {
      const { headers } = endpoint('/x', { headers: JSON.parse(JSON.stringify({ [name]: value })) });
      expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
      expect(headers).toEqual(endpoint('/x').headers);
    }
  });
});

describe('sharing and writing', () => {
  const deepFreeze = <T>(value: T): T => {
    for (const child of Object.values(value as object))
      if (typeof child === 'object' && child !== null) deepFreeze(child);
    return Object.freeze(value);
  };

  test('DEFAULTS is frozen to the ground', () => {
    const { DEFAULTS } = endpoint.defaults({
      a: { b: [{ c: 1 }] },
      mediaType: { previews: ['x'] },
      request: { d: {} },
    });
    const a = DEFAULTS.a as { b: object[] };
    for (const value of [
      DEFAULTS,
      DEFAULTS.headers,
      DEFAULTS.mediaType,
      DEFAULTS.mediaType?.previews,
      DEFAULTS.request,
      a,
      a.b,
      a.b[0],
    ]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
    expect(() => Object.assign(endpoint.DEFAULTS.headers, { accept: 'x' })).toThrow(TypeError);
  });

  test('settings are given out as copies too, when there is nothing else among the defaults', () => {
    const builder = endpoint.defaults({ request: { a: { b: 1 } }, mediaType: { previews: ['c'] } });
    const { request } = builder('/x');
    expect([request, Object.isFrozen(request)]).toEqual([{ a: { b: 1 } }, false]);
    expect(request).not.toBe(builder.DEFAULTS.request);
    expect(request?.['a']).not.toBe((builder.DEFAULTS.request as { a: object }).a);
    expect(builder('/x').request).not.toBe(request);
    expect(builder.merge('/x').mediaType?.previews).not.toBe(builder.DEFAULTS.mediaType?.previews);
  });

  test('frozen inputs work, so inputs are never written to', () => {
    const options = deepFreeze({
      method: 'POST',
      url: '/x',
      headers: { A: '1' },
      mediaType: { previews: ['a-preview'] },
      request: { x: {} },
      a: { b: [1] },
    });
    const builder = endpoint.defaults(options);
    expect(builder(options)).toEqual(endpoint(options));
    expect(endpoint.parse(deepFreeze(builder.merge(options)))).toEqual(endpoint(options));
  });

  test('nor is an instance of a class, in a call or among the defaults', () => {
    class Media {
      format = 'raw';
      previews = ['b'];
    }
    const instance = new Media();
    const given = { previews: ['c'] };
    const builders = [
      endpoint.defaults({ mediaType: { previews: ['a'] } }),
      endpoint.defaults({ mediaType: instance }),
    ];
    for (const builder of builders) {
      for (const mediaType of [instance, deepFreeze(new Media()), given, deepFreeze({ previews: ['c'] })]) {
        const previews = builder.merge({ mediaType }).mediaType?.previews;
        expect(previews).toEqual([...(builder.DEFAULTS.mediaType?.previews ?? []), ...mediaType.previews]);
        expect(builder.defaults({ mediaType }).DEFAULTS.mediaType?.previews).toEqual(previews);
      }
    }
    expect([instance, given]).toEqual([new Media(), { previews: ['c'] }]);
  });

  test('what a builder was given may change later without changing it, and what it gives out too', () => {
    const options = {
      a: { b: [1] },
      data: { c: { d: 1 } },
      request: { e: [1] },
      mediaType: { previews: ['x'] },
      headers: { f: ['1'] },
    };
    const builder = endpoint.defaults(options as never);
    const before = JSON.stringify(builder.DEFAULTS);
    options.a.b.push(2);
    options.data.c.d = 2;
    const scribble = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
      for (const child of Object.values(value)) scribble(child);
      if (Array.isArray(value)) value.push('scribble');
      else Object.assign(value, { scribble: 1 });
    };
    for (const call of [
      () => builder.merge(),
      () => builder.merge({ a: {} }),
      () => builder('POST /x'),
      () => builder('POST /x', { data: { z: 1 } }),
      () => builder.defaults({}).merge(),
    ]) {
      const first = call();
      const copy = structuredClone(first);
      scribble(first);
      expect(call()).toEqual(copy);
      expect(Object.isFrozen(first)).toBe(false);
    }
    expect(JSON.stringify(builder.DEFAULTS)).toBe(before);
  });
});

describe('cycles and depth', () => {
  type Node = { self?: Node; list: unknown[]; x?: number };
  const cycle = (x: number): Node => {
    const node: Node = { list: [], x };
    node.self = node;
    node.list.push(node);
    return node;
  };
  const deep = () => JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`);

  test('in a call they pass through to the serialiser', () => {
    for (const data of [cycle(1), deep()]) {
      const options = endpoint.defaults({ data: { x: 1 } })('POST /x', { a: data, data, request: data });
      expect((options.body as Node).x ?? (options.body as Node)).toBeDefined();
      expect(options.request).toBe(data);
    }
    expect(() => toFetch(endpoint('POST /x', { data: cycle(1) }))).toThrow(TypeError);
  });

  test('in defaults they are refused, as nothing could be shared or frozen', () => {
    for (const value of [cycle(1), deep()]) {
      expect(() => endpoint.defaults({ value })).toThrow(/^defaults at 0: too deep$/);
      expect(() => endpoint.defaults({ request: value })).toThrow(refusal('defaults'));
    }
    const levels = (n: number) => JSON.parse(`${'{"a":'.repeat(n)}1${'}'.repeat(n)}`);
    expect(endpoint.defaults(levels(100)).DEFAULTS).toMatchObject(levels(100));
    expect(() => endpoint.defaults(levels(101))).toThrow(refusal('defaults'));
  });
});
