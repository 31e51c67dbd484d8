import { describe, expect, test } from 'vitest';
import type { ForgeRoutes } from '../src/forge-routes.gen.ts';
import { type Endpoint, type EndpointOptions, endpoint } from '../src/index.ts';

// The type check is the test: a line below `@ts-expect-error` that compiles is an error.

interface Routes {
  'GET /version': {};
  'GET /{owner}/issues': { owner: string; state?: 'open' | 'closed' | undefined; page?: number | undefined };
  'POST /{owner}/issues': { owner: string; title: string; labels?: readonly number[] | null | undefined };
}
const api: Endpoint<Routes> = endpoint;
const isNew = api.DEFAULTS.method === 'GET';
const owner = 'croft';

describe('a map of routes', () => {
  test('knows the parameters of its own', () => {
    const calls = [
      () => api('GET /version'),
      () => api('GET /version', {}),
      () => api('GET /{owner}/issues', { owner }),
      () => api('GET /{owner}/issues', { owner, state: 'open', page: 2 }),
      () => api('GET /{owner}/issues', { owner, state: undefined }),
      () => api('POST /{owner}/issues', { owner, title: 'a', labels: [1] }),
      () => api('POST /{owner}/issues', { owner, title: 'a', labels: [1] as const }),
      // every setting, always
      () =>
        api('POST /{owner}/issues', { owner, title: 'a', headers: { a: 'b' }, request: { strict: true } }),
      () => api('GET /version', { baseUrl: 'https://h', mediaType: { format: 'raw' } }),
      // `data` is the body itself, so nothing else of it is asked for
      () => api('POST /{owner}/issues', { owner, data: { title: 'a' } }),
      () => api(isNew ? 'POST /{owner}/issues' : 'GET /{owner}/issues', { owner, title: 'a' }),
    ];
    for (const call of calls) expect(call().url).toMatch(/^http/);
  });

  test('leaves other routes to what their text says', () => {
    const calls = [
      () => api('GET /{owner}', { owner, whatever: true }),
      () => api('GET /:owner/issues', { owner, stat: 'open' }),
      () => api('GET /x'),
      () => api('GET /{owner}/issues' as string, { stat: 'open' }),
      () => api({ url: '/{owner}', owner }),
      () => api({} as EndpointOptions),
      () => api(),
      // @ts-expect-error owner is missing
      () => api('GET /{owner}'),
      // @ts-expect-error owner is missing
      () => api({ url: '/{owner}' }),
    ];
    for (const call of calls) expect(call().url).toMatch(/^http/);
  });

  test('lives on in derived builders', () => {
    const ours = api.defaults({ owner, headers: { a: 'b' } }).defaults({ baseUrl: 'https://h' });
    const calls = [
      () => ours('GET /{owner}/issues'),
      () => ours('GET /{owner}/issues', { owner: 'other', state: 'closed' }),
      () => ours('GET /{owner}/issues', { owner: undefined }),
      () => ours('POST /{owner}/issues', { title: 'a' }),
      () => ours('POST /{owner}/issues', { data: {} }),
      () => ours.defaults({ title: 'a' })('POST /{owner}/issues'),
      // @ts-expect-error title is missing
      () => ours('POST /{owner}/issues'),
      // @ts-expect-error title is missing
      () => ours('POST /{owner}/issues', { labels: [] }),
      // @ts-expect-error stat is not state
      () => ours('GET /{owner}/issues', { stat: 'open' }),
      // @ts-expect-error owner is a string
      () => ours('GET /{owner}/issues', { owner: 1 }),
    ];
    for (const call of calls) expect(call().url).toMatch(/^https:\/\/h\/(croft|other|1)\/issues/);
  });

  test('refuses everything else', () => {
    const calls = [
      // @ts-expect-error no options at all
      () => api('GET /{owner}/issues'),
      // @ts-expect-error owner is missing
      () => api('GET /{owner}/issues', { state: 'open' }),
      // @ts-expect-error owner is a string
      () => api('GET /{owner}/issues', { owner: 1 }),
      // @ts-expect-error owner may not be undefined
      () => api('GET /{owner}/issues', { owner: undefined }),
      // @ts-expect-error title is missing
      () => api('POST /{owner}/issues', { owner }),
      // @ts-expect-error title is missing, and headers do not make up for it
      () => api('POST /{owner}/issues', { owner, headers: {} }),
      // @ts-expect-error labels are numbers
      () => api('POST /{owner}/issues', { owner, title: 'a', labels: ['bug'] }),
      // @ts-expect-error no such state
      () => api('GET /{owner}/issues', { owner, state: 'opened' }),
      // @ts-expect-error stat is not state
      () => api('GET /{owner}/issues', { owner, stat: 'open' }),
      // @ts-expect-error there are no parameters
      () => api('GET /version', { page: 1 }),
      // @ts-expect-error header is not headers
      () => api('GET /version', { header: { a: 'b' } }),
      // @ts-expect-error not a header value
      () => api('GET /version', { headers: { a: {} } }),
      // @ts-expect-error data does not make up for the path
      () => api('POST /{owner}/issues', { data: { title: 'a' } }),
      // @ts-expect-error title is missing: either route may be taken
      () => api(isNew ? 'POST /{owner}/issues' : 'GET /{owner}/issues', { owner }),
    ];
    expect(calls).toHaveLength(14);
  });
});

test('the defaults can be read and passed on, and not written to', () => {
  const { DEFAULTS } = api.defaults({ owner, mediaType: { previews: ['a'] }, request: { strict: true } });
  const { headers } = DEFAULTS;
  const mediaType = DEFAULTS.mediaType as NonNullable<typeof DEFAULTS.mediaType>;
  const request = DEFAULTS.request as NonNullable<typeof DEFAULTS.request>;
  const writes = [
    // @ts-expect-error frozen
    () => (DEFAULTS.method = 'POST'),
    // @ts-expect-error frozen, as every parameter is
    () => (DEFAULTS['owner'] = 'other'),
    // @ts-expect-error frozen
    () => (headers['accept'] = 'a/b'),
    // @ts-expect-error frozen
    () => (mediaType.format = 'raw'),
    // @ts-expect-error frozen
    () => mediaType.previews?.push('b'),
    // @ts-expect-error frozen
    () => (request.strict = false),
  ];
  for (const write of writes) expect(write).toThrow(TypeError);
  expect(DEFAULTS['owner'] satisfies unknown).toBe(owner);
  expect(endpoint.defaults(DEFAULTS).DEFAULTS).toEqual(DEFAULTS);
  expect(endpoint.parse({ ...DEFAULTS, url: '/{owner}' }).url).toMatch(/croft$/);
});

test('the routes of the forge', () => {
  const forge: Endpoint<ForgeRoutes> = endpoint;
  const ours = forge.defaults({ owner, repo: 'croft' });
  const calls = [
    () => forge('GET /repos/{owner}/{repo}/pulls/{index}', { owner, repo: 'croft', index: 1 }),
    () => ours('GET /repos/{owner}/{repo}/issues', { state: 'open', labels: ['bug', 'ui'], page: 2 }),
    () => ours('POST /repos/{owner}/{repo}/issues', { title: 'a', due_date: new Date(0), labels: [1] }),
    () => ours('GET /repos/{owner}/{repo}/pulls/{index}.{diffType}', { index: 1, diffType: 'diff' }),
    () => ours('POST /repos/{owner}/{repo}/pulls/{index}/merge', { index: 1, do: 'squash' }),
    () => ours('GET /repos/{owner}/{repo}/hooks', { page: 1 }),
    () => ours('GET /user' satisfies keyof ForgeRoutes),
    () => ours('GET /repos/{owner}/{repo}/pulls', { labels: [1, 2], milestone: 3 }),
    () => ours('GET /repos/{owner}/{repo}/archive/{rest}', { rest: 'main.zip', path: 'a' }),
    () => ours('GET /repos/{owner}/{repo}/archive/{rest}{?path*}', { rest: 'main.zip', path: ['a', 'b,c'] }),
    () => ours('POST /repos/{owner}/{repo}/pulls/{index}/update', { index: 1 }),
    () => ours('POST /repos/{owner}/{repo}/pulls/{index}/update{?style}', { index: 1, style: 'rebase' }),
    () => ours('POST /repos/{owner}/{repo}/issues/{index}/assets{?name}', { index: 1, name: 'a', data: 'b' }),
    () => ours('PATCH /notifications/threads/{id}{?to-status}', { id: 1, 'to-status': 'pinned' }),
    () => ours('PUT /notifications', { last_read_at: '2026-01-31T00:00:00Z' }),
    // @ts-expect-error no such route
    () => ours('GET /users' satisfies keyof ForgeRoutes),
    // @ts-expect-error index is missing
    () => ours('GET /repos/{owner}/{repo}/pulls/{index}'),
    // @ts-expect-error title is missing
    () => ours('POST /repos/{owner}/{repo}/issues', { body: 'It does not work' }),
    // @ts-expect-error stat is not state
    () => ours('GET /repos/{owner}/{repo}/issues', { stat: 'open' }),
    // @ts-expect-error labels of an issue are ids
    () => ours('POST /repos/{owner}/{repo}/issues', { title: 'a', labels: ['bug'] }),
    // @ts-expect-error a page is one
    () => ours('GET /repos/{owner}/{repo}/issues', { page: [1, 2] }),
    // @ts-expect-error paths may have commas in them, so a list is declared in the url
    () => ours('GET /repos/{owner}/{repo}/archive/{rest}', { rest: 'main.zip', path: ['a', 'b'] }),
    // @ts-expect-error beside a body, a query parameter is declared in the url
    () => ours('POST /repos/{owner}/{repo}/pulls/{index}/update', { index: 1, style: 'rebase' }),
    // @ts-expect-error likewise
    () => ours('PATCH /notifications/threads/{id}', { id: 1, 'to-status': 'pinned' }),
    // @ts-expect-error neither diff nor patch
    () => ours('GET /repos/{owner}/{repo}/pulls/{index}.{diffType}', { index: 1, diffType: 'zip' }),
  ];
  for (const call of calls) expect(call().url).toMatch(/^http/);
});
