import { expect, test } from 'vitest';
import { endpoint } from './endpoint.ts';
import type { RouteParameters } from './route-types.ts';
import type { Endpoint, EndpointOptions } from './types.ts';

// The type check is the test: a line below `@ts-expect-error` that compiles is an error. With `strict` the builder
// says of the same calls what the types say.
const strict = endpoint.defaults({ request: { strict: true } });
const any = strict as Endpoint<object, string>;

interface Place {
  owner: string;
  repo: number;
}
const place: Place = { owner: 'a', repo: 1 };
const text = 'b' as string;
const isOld = text === 'old';

test('a literal route knows its placeholders', () => {
  const calls = [
    () => strict('GET /x'),
    () => strict('GET'),
    () => strict('GET /x', undefined),
    () => strict('GET /x', { request: { signal: AbortSignal.timeout(1), redirect: 'error' } }),
    () => strict('GET /x', { anything: 1, headers: { a: 'b' } }),
    () => strict('GET /repos/{owner}/{repo}', { owner: 'a', repo: 1 }),
    () => strict('GET /repos/{owner}/{repo}', place),
    () => strict('GET /repos/{owner}/{repo}', { ...place, state: 'open' }),
    () => strict('/repos/:owner/:repo.git', { owner: 'a', repo: new Date(0) }),
    () => strict('/:a-:b_1/{c}:d', { a: 1n, b_1: true, c: new URL('urn:c'), d: 'd' }),
    () => strict('/at/12:30/{a.b}', { 'a.b': 1 }),
    () => strict('/compare/:base...octocat:Patch-1/:_x', { base: 'main' }),
    () => strict('/{user-id}{?to-status}', { 'user-id': 1, 'to-status': 'read' }),
    () => strict(' get\t/x/{a} ', { a: 1 }),
    () => strict('/{a}/b c/{d}', { a: 1, d: 2 }),
    () => strict('POST https://h:8080/x/{+path}{?name,label}', { path: 'a/b', other: {} }),
    () => strict('https://me:secret@h/:a', { a: 1 }),
    () => strict('https://me:secret@h/{a}', { a: 1 }),
    () => strict('https://h/{?a}', {}),
    () => strict('/proxy/{a}/https://h/{b}', { a: 1, b: 2 }),
    () => strict('GET /x{/a}{?b*,c}', {}),
    () => strict('GET /x{/a}{?b*,c}'),
    () => strict('GET /x{/a}{?b*,c}{&d}{#e}{;f}{.g}', { a: null, b: undefined }),
    () => strict('GET /x{?b*,c}', { b: ['1', 2], c: null }),
    () => strict('GET /x{?b*,c}', { b: ['1', 2] as const, c: { d: 1 } }),
    () => strict('GET /x/{a*}/{b:3}', { a: { c: 1 }, b: 'text' }),
    () => strict('GET /{a}{?a}', { a: 1 }),
    () => strict('/{constructor}/:prototype', { constructor: 1, prototype: 'b' }),
    () => strict('https://h?x=:a', { a: 1 }),
    () => strict('https://h#:a/b:c', { a: 1, c: 2 }),
    () => strict('GET /x', { method: 'POST', url: '/y' }),
    () => strict({ url: '/x/{a}', a: 1 }),
    () => strict({ method: 'POST', data: 1 }),
    () => strict({ url: '/x' } as EndpointOptions),
    () => strict(),
    () => strict(undefined),
    () => strict(isOld ? 'PUT /x/{a}' : 'DELETE /x/{a}', { a: 1 }),
    () => strict(`GET /x/${text}`, { a: 1 }),
    () => strict(`GET /x/${text}/{a}`, { a: 1 }),
    () => any('GET /x/{a}', { a: 1 }),
    () => endpoint('GET /x/{a}' as string),
    () => endpoint(JSON.parse('"GET /x/{a}"')),
  ];
  for (const call of calls) expect(call().url).toMatch(/^http/);
});

test('less what the defaults give', () => {
  const ours = strict.defaults({ owner: 'a', mediaType: { previews: ['b'] }, headers: [['c', 'd']] });
  const calls = [
    () => ours('GET /{owner}/{repo}', { repo: 'b' }),
    () => ours.defaults({ repo: 'b' })('GET /{owner}/{repo}'),
    () => ours.defaults({ owner: undefined })('GET /{owner}'),
    () => ours.defaults({})('GET /{owner}'),
    () => ours('GET /{owner}', { owner: 'b' }),
    () => ours('GET /{owner}', { owner: undefined }),
    () => ours({ url: '/:owner' }),
    () => strict.defaults(place)('GET /{owner}/{repo}'),
  ];
  for (const call of calls) expect(call().url).toMatch(/^http/);
});

test('what is missing does not compile, and is refused in strict mode', () => {
  const ours = strict.defaults({ owner: 'a' });
  const settings: EndpointOptions = { baseUrl: 'https://h' };
  const calls = [
    // @ts-expect-error no options at all
    () => strict('GET /repos/{owner}/{repo}'),
    // @ts-expect-error repo is missing
    () => strict('GET /repos/{owner}/{repo}', { owner: 'a' }),
    // @ts-expect-error ownr is not owner
    () => strict('GET /repos/:owner', { ownr: 'a' }),
    // @ts-expect-error repos is not repo
    () => strict('GET /repos/{owner,repo}', { owner: 'a', repos: 'b' }),
    // @ts-expect-error path is missing
    () => strict('GET https://h/{+path}{?page}', { page: 1 }),
    // @ts-expect-error user-id is missing
    () => strict('/{user-id}', { 'to-status': 'read' }),
    // @ts-expect-error a is missing: the method is not all before the last space
    () => strict('/{a}/b c/{d}', { d: 2 }),
    // @ts-expect-error a is missing: the scheme does not stand first
    () => strict('/proxy/{a}/https://h/{b}', { b: 2 }),
    // @ts-expect-error a is missing, below a host with a password
    () => strict('https://me:secret@h/:a', { secret: 1 }),
    // @ts-expect-error a is missing, in a query behind the host
    () => strict('https://h?x=:a', { b: 1 }),
    // @ts-expect-error a is missing, in a fragment behind the host
    () => strict('https://h#:a/b:c', { c: 1 }),
    // @ts-expect-error constructor is missing: what is inherited is no parameter
    () => strict('/{constructor}', { a: 1 }),
    // @ts-expect-error nor is there anything without options
    () => strict('/{constructor}'),
    // @ts-expect-error a is missing, whatever the spaces
    () => strict(' get\t/x/{a} ', { b: 1 }),
    // @ts-expect-error a is missing
    () => strict(`GET /x/${text}/{a}`, { b: 1 }),
    // @ts-expect-error y is missing: either route may be taken
    () => strict(isOld ? 'PUT /x/{x}' : 'DELETE /x/{y}', { x: 1 }),
    // @ts-expect-error a may not be null
    () => strict('GET /{a}', { a: null }),
    // @ts-expect-error a may not be undefined
    () => strict('GET /{a}', { a: undefined }),
    // @ts-expect-error a may not be an option that is perhaps not there
    () => strict('GET /{a}', {} as { a?: string }),
    // @ts-expect-error a is missing
    () => strict({ url: '/x/{a}', b: 1 }),
    // @ts-expect-error repo is neither given nor among the defaults
    () => ours('GET /{owner}/{repo}'),
    // @ts-expect-error undefined is no default
    () => strict.defaults({ owner: undefined })('GET /{owner}'),
    // @ts-expect-error nor is null a value
    () => strict.defaults({ owner: null })('GET /{owner}'),
    // @ts-expect-error headers give no parameter
    () => strict.defaults({ headers: { owner: 'a' } })('GET /{owner}'),
    // @ts-expect-error options of a general type promise none
    () => strict.defaults(settings)('GET /{owner}'),
  ];
  for (const call of calls) expect(call).toThrow(/^[\w-]+ at \d+: missing$/);
});

test('and neither does what no url can hold', () => {
  const calls = [
    // @ts-expect-error a prefix has no list
    () => endpoint('GET /{?a:3}', { a: [1] as const }),
    // @ts-expect-error an exploded name wants a list or a map
    () => endpoint('GET /x{?a*}', { a: 1 }),
    // @ts-expect-error nor does one that must be there
    () => endpoint('GET /x/{a*}', { a: 'text' }),
    // @ts-expect-error a list of lists
    () => endpoint('GET /x/{a}', { a: [[1]] }),
    // @ts-expect-error a value over a default
    () => endpoint.defaults({ a: 1 })('GET /x/{a:3}', { a: {} as object }),
    // @ts-expect-error not a header value
    () => endpoint('GET /x', { headers: { a: {} } }),
    // @ts-expect-error not a format
    () => endpoint('GET /x', { mediaType: { format: 1 } }),
    // @ts-expect-error not a signal
    () => endpoint('GET /x', { request: { signal: 1 } }),
    // @ts-expect-error not a format either
    () => endpoint({ url: '/x', mediaType: { format: 1 } }),
    // @ts-expect-error not a method
    () => endpoint('/x', { method: 1 }),
    // @ts-expect-error not a route
    () => endpoint(1),
    // @ts-expect-error options beside options
    () => endpoint({ url: '/x' }, { a: 1 }),
  ];
  expect(calls).toHaveLength(12);
});

test('the parameters of a route have a type of their own', () => {
  const given: RouteParameters<'/{a}{?b*}'> = { a: 1, b: [2] };
  // @ts-expect-error a is missing
  const missing: RouteParameters<'/{a}{?b*}'> = { b: [2] };
  const defaulted: RouteParameters<'/{a}{?b*}', 'a'> = { b: [2] };
  expect([given, missing, defaulted]).toHaveLength(3);
});
