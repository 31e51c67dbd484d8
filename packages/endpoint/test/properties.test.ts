import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  EndpointError,
  type EndpointOptions,
  endpoint,
  expand,
  type HeaderInput,
  toFetch,
} from '../src/index.ts';
import { layer } from '../src/layer.ts';
import { expandByTheBook } from './rfc6570.ts';

const name = fc.constantFrom('a', 'b', 'c', 'owner', 'repo', 'page', 'x.y', 'caf%C3%A9');
const character = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom('%', '%41', '/', '?', '#', '&', '.', ' ', 'ß', '🎈'),
);
// Triplets are left to the examples: the book counts them in a prefix in words only.
const text = fc.array(character, { maxLength: 5 }).map((parts) => parts.join('').toWellFormed());
const member = fc.oneof(text, fc.constantFrom(null, undefined, ''));
const value = fc.oneof(
  text,
  fc.constantFrom(undefined, null, ''),
  fc.array(member, { maxLength: 3 }),
  fc.dictionary(name, member, { maxKeys: 3 }),
);
const variables = fc.dictionary(name, value);

const varspec = fc.tuple(name, fc.constantFrom('', '', '*')).map((parts) => parts.join(''));
const expression = fc
  .tuple(
    fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&'),
    fc.array(varspec, { minLength: 1, maxLength: 3 }),
  )
  .map(([operator, specs]) => `{${operator}${specs.join(',')}}`);
const literal = text.map((part) => part.replace(/[{}]/g, ''));
const template = fc.array(fc.oneof(expression, literal), { maxLength: 5 }).map((parts) => parts.join(''));

test('expand agrees with RFC 6570 section 3 read literally', () => {
  fc.assert(
    fc.property(template, variables, (template, variables) => {
      expect(expand(template, variables)).toBe(expandByTheBook(template, variables));
    }),
    { numRuns: 2000 },
  );
});

test('a prefix agrees with it too', () => {
  const plain = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('%', '').toWellFormed());
  fc.assert(
    fc.property(
      plain,
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&'),
      (a, limit, operator) => {
        expect(expand(`{${operator}a:${limit}}`, { a })).toBe(
          expandByTheBook(`{${operator}a:${limit}}`, { a }),
        );
      },
    ),
  );
});

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(undefined), fc.constant(null));
const headers = fc.dictionary(
  fc.constantFrom('accept', 'X-A', 'x-a', 'Authorization'),
  fc.constantFrom('1', '2', 3, null, undefined),
);
const options = fc.record(
  {
    method: fc.constantFrom('GET', 'post', 'Patch', 'HEAD', undefined),
    url: fc.constantFrom('/', '/x/{a}', '/:owner/:repo{?page}', 'https://h:80/{+b}', '/graphql', undefined),
    baseUrl: fc.constantFrom('http://h', 'http://h/v1/', null, undefined),
    headers: fc.oneof(headers, fc.constant(undefined)),
    mediaType: fc.record(
      { format: fc.constantFrom('raw', '', undefined), previews: fc.subarray(['p', 'q-preview', 'r']) },
      { requiredKeys: [] },
    ),
    request: fc.record({ timeout: fc.integer(), nested: fc.dictionary(name, scalar) }, { requiredKeys: [] }),
    // Associative as long as an option does not change between an object and anything else from layer to layer.
    a: fc.constantFrom('b', 1, null),
    nested: fc.dictionary(name, scalar),
    b: fc.oneof(fc.constantFrom('c', undefined), fc.array(fc.integer())),
    owner: fc.constantFrom('croft', undefined),
    data: fc.dictionary(name, scalar),
  },
  { requiredKeys: [] },
);

// What a call returns or the refusal it ends in
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return String(error);
  }
}

test('merging is associative over defaults', () => {
  fc.assert(
    fc.property(options, options, options, (a, b, c) => {
      const stepwise = endpoint.defaults(a).defaults(b).merge(c);
      expect(stepwise).toStrictEqual(endpoint.defaults(a).merge(mergeOf(b, c)));
      expect(stepwise).toStrictEqual(endpoint.defaults(mergeOf(a, b)).merge(c));
    }),
    { numRuns: 1000 },
  );
});

// Two sets of options as one, by the documented rules alone
type Given = typeof options extends fc.Arbitrary<infer T> ? T : never;

function mergeOf(a: Given, b: Given): EndpointOptions {
  const lower = (given: object | undefined) =>
    Object.fromEntries(
      Object.entries(given ?? {})
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key.toLowerCase(), value]),
    );
  const merged = layer(a, b) as EndpointOptions;
  const headers = [a.headers, b.headers].map((given) => lower(layer({}, given ?? {}) as object));
  merged.headers = layer(headers[0], headers[1]) as HeaderInput;
  const previews = [...(a.mediaType?.previews ?? []), ...(b.mediaType?.previews ?? [])];
  if (merged.mediaType && previews.length > 0) merged.mediaType.previews = previews;
  return merged;
}

test('a call is parse after merge', () => {
  fc.assert(
    fc.property(options, options, (a, b) => {
      const builder = endpoint.defaults(a);
      expect(outcome(() => builder(b as never))).toEqual(outcome(() => builder.parse(builder.merge(b))));
    }),
    { numRuns: 1000 },
  );
});

test('parse is pure: same input, same result, input untouched', () => {
  fc.assert(
    fc.property(options, (given) => {
      const before = structuredClone(given);
      const merged = endpoint.merge(given as never);
      const copy = structuredClone(merged);
      expect(outcome(() => endpoint.parse(merged))).toEqual(outcome(() => endpoint.parse(merged)));
      expect(merged).toEqual(copy);
      expect(given).toEqual(before);
    }),
  );
});

test('parse keeps no state: what was asked before does not matter', () => {
  fc.assert(
    fc.property(options, fc.array(options, { maxLength: 5 }), (given, others) => {
      const first = outcome(() => endpoint.parse(given));
      for (const other of others) outcome(() => endpoint.defaults(other)({ ...given, ...other } as never));
      expect(outcome(() => endpoint.parse(given))).toEqual(first);
    }),
  );
  // and neither does what the caches of templates, routes and names have let go
  const before = endpoint('GET /x/{a}{?b}', { a: 1, b: 2, headers: { 'X-A': '1' } });
  for (let i = 0; i < 1200; i++)
    endpoint(`M${'-'.repeat(i % 7)} /${i}/{a}`, { a: i, headers: { [`x-${i}`]: '1' } });
  expect(endpoint('GET /x/{a}{?b}', { a: 1, b: 2, headers: { 'X-A': '1' } })).toEqual(before);
});

test('whatever the values are, a call ends in a request or in an EndpointError', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSet: true,
  });
  const any = fc.record(
    {
      method: fc.oneof(anything, fc.constant('POST')),
      url: fc.oneof(
        anything,
        fc.string(),
        fc.constantFrom('/x/{a}', '/:a{?b}{#c*}', '{+a}{/b:3}', '/graphql'),
      ),
      baseUrl: anything,
      headers: fc.oneof(fc.constantFrom(null, undefined), fc.dictionary(fc.string(), anything)),
      mediaType: fc.oneof(
        fc.constantFrom(null, undefined),
        fc.record({ format: fc.string(), previews: fc.array(fc.string()) }, { requiredKeys: [] }),
      ),
      request: anything,
      data: anything,
      a: anything,
      b: anything,
      q: anything,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(any, any, (a, b) => {
      for (const call of [
        () => toFetch(endpoint.defaults(a as never)(b as never)),
        () => endpoint.parse(a as never),
        () => expand('{a}{+q:3}{?a*}', a),
      ]) {
        try {
          call();
        } catch (error) {
          // JSON has an error of its own for an integer that is no number.
          if (!/serialize a BigInt/.test(String(error))) expect(error).toBeInstanceOf(EndpointError);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test('whatever the values, host and first segment stay those of the template', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '//evil',
      '..',
      '.',
      '/../',
      '%2e%2e',
      '\\evil',
      '@evil',
      'http://evil',
      '?',
      '#',
      '\t',
      '\n',
    ),
  );
  const url = fc.constantFrom(
    'https://good/api/{a}{b}',
    'https://good/api/{+a}',
    '/{a}',
    '{+a}{+b}',
    '{/a}{+b}',
    '//{a}',
    '{a}{+b}',
    '/{+a}/{+b}',
    'https://good/{/a}',
    'https://good/{?a,b}',
    'https://good{/a}',
    'https://good{?a,b}',
    '{?a}{&b}',
    '{#a}',
    ':a:b',
    'https://{a}/x',
    'https://{+a}{b}',
    'https://good{a}/{b}',
    'https:{+a}',
  );
  fc.assert(
    fc.property(
      url,
      fc.array(hostile, { maxLength: 3 }),
      fc.array(hostile, { maxLength: 3 }),
      (url, a, b) => {
        const result = outcome(() =>
          endpoint({ url, baseUrl: 'https://good/api', a: a.join(''), b: b.join('') }),
        );
        if (typeof result === 'string') {
          expect(result).toMatch(/^EndpointError: (?:(?:[ab]|url) at \d+: dot segment|url at \d+: no host)$/);
        } else {
          const { host, pathname } = new URL((result as { url: string }).url);
          expect(host).toBe('good');
          if (!url.startsWith('https://good/{')) expect(pathname).toMatch(/^\/api(\/|$)/);
          expect(pathname).not.toMatch(/\/(\.|%2e){1,2}(\/|$)/i);
        }
      },
    ),
    { numRuns: 3000 },
  );
});
