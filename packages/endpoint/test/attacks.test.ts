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
    ['/a/{x}.', '', 3],
    ['{x}', '..', 0],
    ['/a/{+x}', '../b', 3],
    ['/a/{+x}', 'b/../c', 3],
    ['/a/{+x}', 'b/%2E%2e/c', 3],
    ['/a/{+x}', 'b/.%2E', 3],
    ['/a{/x*}', ['b', '..'], 2],
    ['https://h/a/{x}', '..', 12],
    ['https://h{/x}', '..', 9],
  ])('%s with %j is refused', (url, x, position) => {
    expect(() => endpoint({ url, x, y: '.' })).toThrow(refusal('x', position));
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
    ['/a/../b/{x}', 'c'],
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
    for (const url of ['http://good/{+x}', 'http://good{/x}', 'http://good{?x}', 'http://good{#x}']) {
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
    'http://good{/y}{x}',
    'http://good{/y}.evil',
    'http://good{&x}',
    'http:///{x}',
    'http://',
  ])('a template %s without a fixed host is refused', (url) =>
    expect(() => endpoint({ url, x: 'evil' })).toThrow(refusal('url')),
  );

  test('a base with a query or fragment would swallow the path', () => {
    expect(() => endpoint({ url: '/x', baseUrl: 'http://h/?a=' })).toThrow(refusal('baseUrl', 9));
    expect(() => endpoint({ url: '/x', baseUrl: 'http://h#' })).toThrow(refusal('baseUrl', 8));
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
    expect(() => endpoint('/x', { headers: { [name]: '1' } })).toThrow(refusal('headers'));
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

describe('reaching a prototype', () => {
  const attack =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}}';
  const nested = `{"headers":${attack},"mediaType":${attack},"request":${attack},"a":${attack}}`;

  test.each([attack, nested])('%s', (text) => {
    const plain = endpoint.defaults({ a: { x: 1 }, request: { y: 1 } });
    const builder = plain.defaults(JSON.parse(text));
    const merged = builder.merge('POST /{x}', JSON.parse(text));
    for (const value of [
      merged,
      merged.headers,
      merged.mediaType,
      merged.request,
      merged.a,
      builder.DEFAULTS,
      {},
    ]) {
      expect(value).not.toHaveProperty('polluted');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
    expect(merged.headers).toEqual(endpoint.DEFAULTS.headers);
    expect(builder('POST /x', JSON.parse(text)).body).toEqual({ a: { x: 1 } });
    expect(endpoint.parse({ method: 'POST', url: '/x', ...JSON.parse(attack) })).not.toHaveProperty('body');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('inherited properties are no options', () => {
    const options = Object.create({ url: '/evil', a: 1, baseUrl: 'http://evil', headers: { x: '1' } });
    expect(endpoint(options)).toEqual(endpoint('/'));
    expect(endpoint('/{toString}{hasOwnProperty}{valueOf}' as string).url).toBe(endpoint('/').url);
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
      DEFAULTS.mediaType.previews,
      DEFAULTS.request,
      a,
      a.b,
      a.b[0],
    ]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
    expect(() => Object.assign(endpoint.DEFAULTS.headers, { accept: 'x' })).toThrow(TypeError);
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
    expect(() => toFetch(endpoint('POST /x', { data: cycle(1) }))).toThrow(refusal('body'));
    expect(() => toFetch(endpoint('POST /x', { data: deep() }))).toThrow(refusal('body'));
  });

  test('in defaults they are refused, as nothing could be shared or frozen', () => {
    for (const value of [cycle(1), deep()]) {
      expect(() => endpoint.defaults({ value })).toThrow(refusal('defaults'));
      expect(() => endpoint.defaults({ request: value })).toThrow(refusal('defaults'));
    }
  });
});
