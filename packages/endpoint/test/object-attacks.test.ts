import { describe, expect, test } from 'vitest';
import { endpoint, toFetch } from '../src/index.ts';

const refusal = (option: string, position?: number) =>
  expect.objectContaining({ name: 'EndpointError', option, ...(position === undefined ? {} : { position }) });

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
