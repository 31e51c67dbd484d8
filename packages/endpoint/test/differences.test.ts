import { readFileSync } from 'node:fs';
import { endpoint as reference } from '@octokit/endpoint';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endpoint, type RequestOptions } from '../src/index.ts';

process.env.TZ = 'UTC'; // the reference prints dates in local time

type Builder = typeof endpoint;
const theirs = reference as unknown as Builder;

// Tells in the words of DIFFERENCES.md what a call comes to.
function outcomeOf(builder: Builder, call: (endpoint: Builder) => unknown): string {
  let result: unknown;
  try {
    result = call(builder);
  } catch (error) {
    return error instanceof Error && error.name === 'EndpointError' ? `refused: ${error.message}` : 'throws';
  }
  if (typeof result === 'function') return 'a builder';
  if (!Object.hasOwn(result as object, 'method')) return JSON.stringify(result);
  const { headers: defaults } = builder.DEFAULTS;
  const baseUrl = String(builder.DEFAULTS.baseUrl);
  const { method, url, headers, body, request } = result as RequestOptions;
  const names = [...new Set([...Object.keys(defaults), ...Object.keys(headers)])];
  return [
    method.toLowerCase(),
    url.replace(new RegExp(`^${baseUrl}(?=[/?]|$)`), '').replace(baseUrl, '<base>'),
    ...(body === undefined
      ? []
      : [JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))]),
    ...names
      .filter((name) => headers[name] !== defaults[name])
      .map((name) =>
        name in headers
          ? `${name}: ${JSON.stringify(headers[name])?.replace(/^"(.*)"$/, '$1')}`
          : `no ${name}`,
      ),
    ...(request === undefined ? [] : [`request: ${JSON.stringify(request)}`]),
  ]
    .join(' ')
    .replaceAll('vnd.github.', 'vnd.croft.');
}

// A call written down: the arguments of `endpoint`, or an expression with it.
function written(call: string): (endpoint: Builder) => unknown {
  const expression = /\bendpoint\b/.test(call) ? call : `endpoint(${call})`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the calls are text of our own document
  return new Function('endpoint', `'use strict'; return ${expression}`) as (endpoint: Builder) => unknown;
}

const rows = readFileSync(new URL('../DIFFERENCES.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')));

describe('DIFFERENCES.md', () => {
  test('has rows, each a difference', () => {
    expect(rows.length).toBeGreaterThan(60);
    for (const [, call, other, ours] of rows) expect(other, call).not.toBe(ours);
  });

  test.each(rows)('%s %s', (_, call = '', other, ours) => {
    expect(outcomeOf(theirs, written(call))).toBe(other);
    expect(outcomeOf(endpoint, written(call))).toBe(ours);
  });
});

describe('both agree', () => {
  test.each([
    `'GET /x'`,
    `'/x'`,
    `'patch /x', {a: 1}`,
    `{method: 'GET', url: '/orgs/{org}/repos', org: 'a', per_page: 5}`,
    `'GET /repos/{owner}/{repo}/issues', {owner: 'a', repo: 'b', state: 'open', labels: 'bug,ui', page: 2}`,
    `'GET /repos/:owner/:repo', {owner: 'a/b', repo: 'c d'}`,
    `'GET /repos/{owner}/{repo}/compare/:base...:head', {owner: 'a', repo: 'b', base: 'c', head: 'd:e'}`,
    `'GET /x/{a}', {a: "-._~!'()* %/ä🎈"}`,
    `'GET /x/{a}', {a: 0}`,
    `'GET /x/{a}', {a: false}`,
    `'GET /x/{a}', {a: 10n}`,
    `'GET /x/{a}', {a: ['b', 'c d', null]}`,
    `'GET /x/{a}', {a: {b: 1, c: 'd'}}`,
    `'GET /x/{a}/y', {}`,
    `'GET /x/{a}', {a: null}`,
    `'GET /x/{a}', {a: ''}`,
    `'GET /x/{+a}', {a: 'b/c d%20'}`,
    `'GET /x{#a}', {a: 'b/c'}`,
    `'GET /x{.a}{;b}{/c}', {a: 1, b: 2, c: 3}`,
    `'GET /x{?a,b}', {a: 1, b: 'c d'}`,
    `'GET /x?c=1{&a,b}', {a: 1, b: 2}`,
    `'GET /x{?a}', {a: 1, b: 2}`,
    `'GET /x{?q}', {q: 'a+b'}`,
    `'GET /search', {q: 'location:Jyväskylä+is:open a'}`,
    `'GET /x', {a: [1, 2]}`,
    `'GET /x', {a: '', b: 0, c: false, d: undefined}`,
    `'GET /x', {a: 10n ** 20n}`,
    `'GET /x?a=1', {b: 2}`,
    `'GET /x?', {b: 2}`,
    `'POST /x', {constructor: 1, prototype: 2}`,
    `'GET /x/{constructor}', {constructor: 1}`,
    `'GET /ä'`,
    `'GET /[x]%20%zz'`,
    `'GET /a/'`,
    `'GET /a//'`,
    `'GET /a{/b}', {b: ''}`,
    `'GET /'`,
    `''`,
    `'HEAD /x', {a: 1}`,
    `'POST /x', {a: 1, b: [1], c: null, d: undefined}`,
    `'POST /x', {a: 1, headers: {'content-type': ''}}`,
    `'POST /x', {body: 1}`,
    `'POST /x'`,
    `'DELETE /x'`,
    `'DELETE /x', {a: 1}`,
    `'OPTIONS /x', {a: 1}`,
    `'PUT /x', {a: 1}`,
    `'PATCH /x', {a: 1}`,
    `'POST /x/{a}', {a: 1, b: 2}`,
    `'POST /x', {data: {a: 1}, b: 2}`,
    `'POST /x', {data: [1]}`,
    `'POST /x', {data: null}`,
    `'POST /x', {data: 0}`,
    `'POST https://uploads.example/assets{?name,label}', {name: 'a b', label: 'c', headers: {'content-type': 'text/plain', 'content-length': 14}, data: 'Hello'}`,
    `'GET https://h:8080/x/{a}', {a: 1}`,
    `'GET https://h/api/v3/'`,
    `'GET /x', {baseUrl: 'https://h/api', headers: {Authorization: 'token 1', 'X-A': 2}}`,
    `'GET /x', {headers: {'User-Agent': 'app', accept: undefined}}`,
    `'GET /x', {mediaType: {format: 'raw'}}`,
    `'GET /x', {mediaType: {format: 'text+json'}}`,
    `'GET /x', {mediaType: {format: 'raw'}, headers: {accept: 'application/vnd.github+json, text/html'}}`,
    `'GET /x', {mediaType: {format: 'raw'}, headers: {accept: 'application/octet-stream'}}`,
    `'GET /x', {mediaType: {format: 'raw'}, headers: {accept: 'application/vnd.a.b+json'}}`,
    `'GET /x', {mediaType: {previews: ['a']}}`,
    `'POST /graphql', {query: '{a}', mediaType: {previews: ['a', 'b-preview']}}`,
    `'POST /graphql', {query: '{a}', mediaType: {format: 'raw', previews: ['a']}}`,
    `'POST /graphql', {query: '{a}', headers: {accept: 'application/vnd.foo-preview,application/vnd.bar-preview'}, mediaType: {previews: ['baz']}}`,
    `'GET /x', {method: 'POST', url: '/y', a: 1}`,
  ])('%s', (call) => expect(outcomeOf(endpoint, written(call))).toBe(outcomeOf(theirs, written(call))));
});

// Calls put together from everything a route and its options can be. Each outcome must be the same in both libraries, or
// one of the reasons of DIFFERENCES.md must apply to what was asked for.
interface Case {
  route: string;
  options: Readonly<Record<string, unknown>> & { method?: string; url?: string; baseUrl?: string };
}

const routes = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) => [
    `${method} /x`,
    `${method} /x/{a}`,
    `${method} /x{?a,b}`,
  ]),
  '/x',
  '',
  'patch /x/:aa',
  'GET /x/{a}/{a}/:aa',
  'GET /x/:aa...:bb',
  'GET /x/:aa:Bb/:_a',
  'GET /x/{a-b}{?c-d}',
  'GET /x/{+a}',
  'GET /x/{+a}/y',
  'GET /x{/a}',
  'GET /x{/a,b}/y',
  'GET /x{.a}{;b}',
  'GET /x{#a}',
  'GET /x?c=1{&a}',
  'GET /x?c=1',
  'GET /x{?a*}',
  'GET /x{?a*,b}',
  'GET /x/{a:2}',
  'GET /x/{a,b}',
  'GET /x#f',
  'GET /x/',
  'GET /x//',
  'GET /{b}',
  'GET /ä[x]%20%zz',
  'POST https://h:80/x/{a}',
  'GET https://h',
  'GET https://h/',
  'GET https://h/api/v3/',
  'POST /graphql',
  'POST /api/graphql',
  'GET /repos/{owner}/{repo}/issues',
  'x',
];

const values = [
  undefined,
  null,
  'b',
  '',
  0,
  -1.5,
  false,
  10n ** 20n,
  'c d/e?f#g&h=i+j%k:@',
  '-._~',
  "it's (*)!",
  'ä🎈',
  '%41%zz',
  '%foo',
  '..',
  'b/',
  ['b', 'c d'],
  [1, 2],
  [],
  ['b', null],
  { b: 'c' },
  { b: 1, c: null },
  {},
  new Date(0),
];

const extras: Case['options'][] = [
  { b: 'c', other: 1 },
  { aa: 'd/e', bb: 'f:g' },
  { owner: 'o', repo: 'r', state: 'open', per_page: 5 },
  { q: 'is:open+a b&c' },
  { q: 5 },
  { data: { a: 1 } },
  { data: 'text', other: 1 },
  { data: null },
  { data: [1] },
  { body: 1 },
  { baseUrl: 'https://h/api' },
  { baseUrl: 'https://h/api/' },
  { headers: { 'X-A': 1, Authorization: 'token 1' } },
  { headers: { accept: undefined, 'USER-AGENT': 'app' } },
  { headers: { accept: null } },
  { headers: { 'content-type': 'text/plain' } },
  { headers: { accept: 'application/vnd.github.v3+json, text/html' }, mediaType: { format: 'diff' } },
  { headers: { accept: 'application/octet-stream' }, mediaType: { format: 'raw' } },
  { headers: { accept: 'application/vnd.acme.v4+json' }, mediaType: { format: 'raw' } },
  { headers: { accept: 'application/vnd.acme.v1+json' }, mediaType: { previews: ['p'] } },
  { mediaType: { format: 'text+json' } },
  { mediaType: { previews: ['p', 'q-preview'] } },
  { mediaType: { format: 'raw', previews: ['p'] } },
  { request: { timeout: 5 } },
  { method: 'POST' },
  { url: '/y' },
];

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Date);
const isMissing = (value: unknown): boolean => value === undefined || value === null;
const membersOf = (value: unknown): unknown[] =>
  isList(value) || isMap(value) ? Object.values(value as object).filter((one) => !isMissing(one)) : [];

// What a call asks for, by the words of the README
function read({ route, options }: Case) {
  const [, verb, path = route] = /^(\S+) (.*)$/.exec(route) ?? [];
  const method = (options.method ?? verb ?? 'GET').toUpperCase();
  const url = options.url ?? path;
  const variables = [...url.matchAll(/\{([+#./;?&]?)([^}]*)\}|:([a-z]\w+)/g)].flatMap(
    ([, sign = '', specs, colon]) =>
      (colon ?? specs ?? '').split(',').map((spec, i, all) => {
        const name = spec.replace(/[*:].*$/, '');
        const value = Object.hasOwn(options, name) ? options[name] : undefined;
        const [explode, limit] = [spec.endsWith('*'), spec.includes(':')];
        // Neither library has anything to leave behind, or the reference takes it for a trailing slash.
        const canStayAway = all.length === 1 && (/^\+?$/.test(sign) || url.endsWith('{/a}'));
        return { sign, name, value, explode, limit, canStayAway, isLast: i === all.length - 1 };
      }),
  );
  const settings = ['method', 'url', 'baseUrl', 'headers', 'mediaType', 'request'];
  const used = new Set(variables.map(({ name }) => name));
  const rest = Object.entries(options).filter(
    ([name, value]) => value !== undefined && !settings.includes(name) && !used.has(name),
  );
  const isQuery = method === 'GET' || method === 'HEAD';
  return {
    url,
    baseUrl: options.baseUrl ?? '',
    method,
    variables,
    query: isQuery ? rest : [],
    hasBody: !isQuery && rest.length > 0,
    hasTextBody: !isQuery && typeof options['data'] === 'string',
    headers: (options['headers'] ?? {}) as Record<string, unknown>,
    mediaType: (options['mediaType'] ?? {}) as { format?: string; previews?: string[] },
  };
}

type Call = ReturnType<typeof read>;

const inTemplate = (test: (variable: Call['variables'][number]) => boolean) => (call: Call) =>
  call.variables.some(test);
const inQuery = (test: (value: unknown, name: string) => boolean) => (call: Call) =>
  call.query.some(([name, value]) => test(value, name));

// Reasons in the words of DIFFERENCES.md, and when they apply
const reasons: Record<string, (call: Call) => boolean> = {
  'explode by RFC 6570': inTemplate(({ explode, value }) => explode && membersOf(value).length > 1),
  'undefined variables leave nothing behind': inTemplate(
    ({ value, canStayAway }) => isMissing(value) && !canStayAway,
  ),
  'an empty list is undefined': inTemplate(
    ({ value, canStayAway }) => isList(value) && membersOf(value).length === 0 && !canStayAway,
  ),
  'so is an empty map': inTemplate(
    ({ value, canStayAway }) => isMap(value) && membersOf(value).length === 0 && !canStayAway,
  ),
  'RFC 6570 section 2.4.1: only text has a prefix': inTemplate(
    ({ limit, value }) => limit && (isList(value) || isMap(value)),
  ),
  'a name the template uses is not emitted again': inTemplate(
    ({ limit, explode, isLast, value }) =>
      value !== undefined && ((limit && !isList(value) && !isMap(value)) || (explode && !isLast)),
  ),
  'a triplet has two hexadecimal digits': inTemplate(
    ({ sign, value }) => /[+#]/.test(sign) && /%[\da-f](?![\da-f])/i.test(String(value)),
  ),
  'lists may hold numbers': inTemplate(
    ({ sign, value }) => /[+#]/.test(sign) && isList(value) && value.some((item) => typeof item === 'number'),
  ),
  'dates are ISO 8601': ({ variables, query }) =>
    variables.some(({ value }) => value instanceof Date) || query.some(([, value]) => value instanceof Date),
  'every value is encoded alike, in a template or not': inQuery((value) => /[!'()*]/.test(String(value))),
  '`null` is no value, as in templates': inQuery((value, name) => value === null && name !== 'data'),
  'nor in a list': inQuery((value) => isList(value) && value.some(isMissing)),
  'so is an empty list': inQuery((value) => isList(value) && value.length === 0),
  'an object is its names and values, as in templates': inQuery(
    (value, name) => isMap(value) && membersOf(value).length > 0 && name !== 'data',
  ),
  'and nothing if it has none': inQuery(
    (value, name) => isMap(value) && membersOf(value).length === 0 && name !== 'data',
  ),
  'the query stands before the fragment': ({ url, variables, query }) =>
    query.length > 0 &&
    (url.includes('#') || variables.some(({ sign, value }) => sign === '+' && String(value).includes('#'))),
  '`q` may be any value': inQuery((value, name) => name === 'q' && typeof value !== 'string'),
  '`data` is a body, and GET has none': inQuery((_, name) => name === 'data'),
  'exactly one slash at the join': ({ url, baseUrl }) =>
    !url.startsWith('http') && (url === '' || url.startsWith('/')) === baseUrl.endsWith('/'),
  'a slash that is the whole path stays': ({ url }) => /^https:\/\/[^/]*\/$/.test(url),
  'only the path loses its slash': inTemplate(
    ({ sign, value }) => sign === '#' && String(value).endsWith('/'),
  ),
  'a value never leaves its segment': inTemplate(
    ({ sign, value }) => !/[?&#]/.test(sign) && String(value).split('/').includes('..'),
  ),
  'a body only when there is one': ({ method, hasBody }) => /^P(UT|ATCH)$/.test(method) && !hasBody,
  'only JSON is declared as JSON': ({ hasTextBody, headers }) =>
    hasTextBody && headers['content-type'] === undefined,
  '`null` takes a default away': ({ headers }) => headers['accept'] === null,
  'the version stays, whatever it is': ({ headers, mediaType }) =>
    mediaType.format !== undefined && /\.v[^3]/.test(String(headers['accept'])),
  'previews stay in the vendor tree of `accept`': ({ url, headers, mediaType }) =>
    url.endsWith('/graphql') && mediaType.previews !== undefined && /acme/.test(String(headers['accept'])),
  'the suffix is not doubled on full urls': ({ url, mediaType }) =>
    url.endsWith('/graphql') && url !== '/graphql' && String(mediaType.previews).includes('-preview'),
};

const cases: Case[] = [
  ...routes.flatMap((route) => values.map((a) => ({ route, options: { a } }))),
  ...routes.flatMap((route) => extras.map((options) => ({ route, options }))),
  ...fc.sample(
    fc.record({
      route: fc.constantFrom(...routes),
      options: fc
        .tuple(fc.constantFrom(...values), fc.constantFrom(...values), fc.subarray(extras, { maxLength: 3 }))
        .map(([a, b, more]) => Object.assign({ a, b }, ...more) as Case['options']),
    }),
    { numRuns: 2000, seed: 6570 },
  ),
];

describe('a run over thousands of calls', () => {
  const outcomes = cases.map((one) => {
    const call = (builder: Builder) => builder(one.route, one.options);
    const [other, ours] = [outcomeOf(theirs, call), outcomeOf(endpoint, call)];
    const asked = read(one);
    const applying = Object.keys(reasons).filter((reason) => reasons[reason]?.(asked));
    return { ...one, other, ours, isSame: other === ours, applying };
  });

  test('where no reason applies, both agree', () => {
    const plain = outcomes.filter(({ applying }) => applying.length === 0);
    expect(plain.length).toBeGreaterThan(2000);
    expect(plain.filter(({ isSame }) => !isSame)).toEqual([]);
  });

  test.each(Object.keys(reasons))('where only this one applies, they disagree: %s', (reason) => {
    expect(rows.map((row) => row[4])).toContain(reason);
    const alone = outcomes.filter(({ applying }) => applying.join() === reason);
    const different = alone.filter(({ isSame }) => !isSame);
    expect(different.length).toBeGreaterThan(alone.length * 0.9);
  });
});
