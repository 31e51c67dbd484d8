import { expect, test } from 'vitest';
import { endpoint } from './endpoint.ts';
import type { EndpointOptions } from './types.ts';

// The type check is the test: a line below `@ts-expect-error` that compiles is an error.
test('a literal route knows its placeholders', () => {
  const calls = [
    () => endpoint('GET /x'),
    () => endpoint('GET /x', { anything: 1, headers: { a: 'b' } }),
    () => endpoint('GET /repos/{owner}/{repo}', { owner: 'a', repo: 1 }),
    () => endpoint('/repos/:owner/:repo.git', { owner: 'a', repo: new Date(0) }),
    () => endpoint('POST https://h:8080/x/{+path}{?name,label}', { path: 'a/b', other: {} }),
    () => endpoint('GET /x{/a}{?b*,c}', {}),
    () => endpoint('GET /x{/a}{?b*,c}'),
    () => endpoint('GET /x{?b*,c}', { b: ['1', 2], c: null }),
    () => endpoint({ url: '/x/{a}', a: 1 }),
    () => endpoint({ method: 'POST', data: 1 }),
    () => endpoint({ url: '/x' } as EndpointOptions),
    () => endpoint(),
    () => endpoint.defaults({ owner: 'a' })('GET /{owner}/{repo}', { repo: 'b' }),
    () => endpoint.defaults({ owner: 'a' }).defaults({ repo: 'b' })('GET /{owner}/{repo}'),
    () => endpoint.defaults({ owner: 'a' })('GET /{owner}', { owner: 'b' }),
    () => endpoint('GET /x/{a}' as string),
  ];
  for (const call of calls) expect(call().url).toMatch(/^http/);
});

test('and refuses what it cannot do without', () => {
  const calls = [
    // @ts-expect-error no options at all
    () => endpoint('GET /repos/{owner}/{repo}'),
    // @ts-expect-error repo is missing
    () => endpoint('GET /repos/{owner}/{repo}', { owner: 'a' }),
    // @ts-expect-error ownr is not owner
    () => endpoint('GET /repos/:owner', { ownr: 'a' }),
    // @ts-expect-error path is missing
    () => endpoint('GET https://h/{+path}{?page}', { page: 1 }),
    // @ts-expect-error a may not be null
    () => endpoint('GET /{a}', { a: null }),
    // @ts-expect-error a prefix has no list
    () => endpoint('GET /{?a:3}', { a: [1] as const }),
    // @ts-expect-error an exploded name wants a list or a map
    () => endpoint('GET /x{?a*}', { a: 1 }),
    // @ts-expect-error a is missing
    () => endpoint({ url: '/x/{a}', b: 1 }),
    // @ts-expect-error repo is neither given nor among the defaults
    () => endpoint.defaults({ owner: 'a' })('GET /{owner}/{repo}'),
    // @ts-expect-error not a header value
    () => endpoint('GET /x', { headers: { a: {} } }),
    // @ts-expect-error not a format
    () => endpoint('GET /x', { mediaType: { format: 1 } }),
    // @ts-expect-error not a route
    () => endpoint(1),
  ];
  expect(calls).toHaveLength(12);
});
