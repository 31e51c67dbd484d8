import { expect, test } from 'vitest';
import { endpoint } from './endpoint.ts';

const headers = {
  accept: 'application/vnd.croft.v3+json',
  'user-agent': endpoint.DEFAULTS.headers['user-agent'],
};
const baseUrl = 'http://127.0.0.1:3000/api/v1';

test('merge returns the options with all defaults, not parsed', () => {
  const builder = endpoint.defaults({
    baseUrl: 'https://h/api',
    headers: { 'User-Agent': 'app/1' },
    org: 'a',
  });
  expect(
    builder.merge('GET /orgs/{org}/repos', {
      headers: { authorization: 'token 1' },
      org: 'b',
      type: 'private',
    }),
  ).toEqual({
    method: 'GET',
    baseUrl: 'https://h/api',
    url: '/orgs/{org}/repos',
    headers: { accept: headers.accept, 'user-agent': 'app/1', authorization: 'token 1' },
    mediaType: { format: '' },
    org: 'b',
    type: 'private',
  });
});

test('without arguments it returns the defaults', () => {
  expect(endpoint.merge()).toEqual({ method: 'GET', baseUrl, headers, mediaType: { format: '' } });
  expect(endpoint.merge()).toEqual(endpoint.DEFAULTS);
});

test('options win over the route, undefined over nothing', () => {
  expect(endpoint.merge('GET /a', { method: 'POST', url: '/b' })).toMatchObject({
    method: 'POST',
    url: '/b',
  });
  const given = {
    method: undefined,
    url: undefined,
    baseUrl: undefined,
    headers: { accept: undefined },
    a: undefined,
  };
  expect(endpoint.defaults({ a: 1 }).merge('PUT /a', given)).toEqual({
    method: 'PUT',
    url: '/a',
    baseUrl,
    headers,
    mediaType: { format: '' },
    a: 1,
  });
});

test('defaults cascade', () => {
  const first = endpoint.defaults({ baseUrl: 'https://h', owner: 'a', nested: { x: 1, list: [1] } });
  const second = first.defaults({
    headers: { Authorization: 'token 1' },
    repo: 'b',
    nested: { y: 2, list: [2] },
  });
  expect(second.DEFAULTS).toMatchObject({
    baseUrl: 'https://h',
    owner: 'a',
    repo: 'b',
    nested: { x: 1, y: 2, list: [2] },
  });
  expect(second.DEFAULTS.headers).toEqual({ ...headers, authorization: 'token 1' });
  expect(second('POST /{owner}/{repo}', { nested: undefined, owner: 'c' }).url).toMatch(/^https:\/\/h\/c\/b/);
  expect(first.DEFAULTS).not.toHaveProperty('repo');
});

test('plain objects merge, everything else replaces', () => {
  class Agent {
    x = 1;
  }
  const agent = new Agent();
  const builder = endpoint.defaults({ a: { x: 1 }, b: 'text', c: [1, 2], d: { x: 1 }, e: { x: { y: 1 } } });
  expect(
    builder.merge({ a: { y: 2 }, b: { x: 1 }, c: [3], d: agent, e: { x: { z: undefined } } }),
  ).toMatchObject({
    a: { x: 1, y: 2 },
    b: { x: 1 },
    c: [3],
    d: agent,
    e: { x: { y: 1 } },
  });
  expect(builder.merge({ d: agent }).d).toBe(agent);
});

test('header names are lowercased and merged; any form of headers will do', () => {
  const forms = [
    { 'X-A': '1', Accept: 'x' },
    new Headers({ 'X-A': '1', Accept: 'x' }),
    new Map([
      ['X-A', '1'],
      ['Accept', 'x'],
    ]),
    [
      ['X-A', '1'],
      ['Accept', 'x'],
    ],
  ];
  for (const form of forms) {
    expect(endpoint.merge({ headers: form as never }).headers).toEqual({
      accept: 'x',
      'user-agent': headers['user-agent'],
      'x-a': '1',
    });
  }
  expect(endpoint.merge({ headers: { 'X-A': '1', 'x-a': '2' } }).headers['x-a']).toBe('2');
  const pairs: [string, string][] = [
    ['X-A', '1'],
    ['x-a', '2'],
    ['x-a', '3'],
  ];
  expect(endpoint.merge({ headers: pairs }).headers['x-a']).toBe('3');
  expect(endpoint.merge({ headers: null }).headers).toEqual(headers);
  expect(endpoint('/x', { headers: { 'content-length': 14, 'x-list': ['a', 'b'] } }).headers).toMatchObject({
    'content-length': '14',
    'x-list': 'a, b',
  });
});

test('a header that is null takes the default away', () => {
  expect(endpoint('/x', { headers: { Accept: null } }).headers).toEqual({
    'user-agent': headers['user-agent'],
  });
  expect(
    endpoint.defaults({ headers: { accept: null } })('/x', { mediaType: { format: 'raw' } }).headers,
  ).not.toHaveProperty('accept');
});

test('`null` stays what it is, and the types say so', () => {
  const nothing = { baseUrl: null, mediaType: null, request: null };
  const builder = endpoint.defaults(nothing);
  for (const merged of [endpoint.merge('/x', nothing), builder.merge('/x'), builder.DEFAULTS]) {
    const { baseUrl, mediaType, request } = merged;
    expect({ baseUrl, mediaType, request }).toEqual(nothing);
    // @ts-expect-error there may be no base
    expect(() => baseUrl.length).toThrow(TypeError);
    // @ts-expect-error nor a media type
    expect(() => mediaType.format).toThrow(TypeError);
    // @ts-expect-error nor settings
    expect(() => request.strict).toThrow(TypeError);
  }
});

test('previews add up', () => {
  const builder = endpoint.defaults({ mediaType: { previews: ['a-preview'] } });
  expect(builder.merge('/graphql', { mediaType: { format: 'raw', previews: ['b', 'a'] } }).mediaType).toEqual(
    { format: 'raw', previews: ['a-preview', 'b', 'a'] },
  );
  expect(builder('POST /graphql', { mediaType: { previews: ['b', 'a'] } }).headers['accept']).toBe(
    'application/vnd.croft.a-preview+json,application/vnd.croft.b-preview+json',
  );
  expect(builder('POST /graphql', { mediaType: null }).headers['accept']).toBe(
    'application/vnd.croft.v3+json',
  );
});
