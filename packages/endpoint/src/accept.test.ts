import { expect, test } from 'vitest';
import { endpoint } from './endpoint.ts';

const acceptOf = (accept: string, mediaType: object, route = '/x') =>
  endpoint(route, { headers: { accept }, mediaType }).headers.accept;

test.each([
  ['application/vnd.croft.v3+json', 'raw', 'application/vnd.croft.v3.raw'],
  ['application/vnd.croft.v3+json', 'text+json', 'application/vnd.croft.v3.text+json'],
  ['application/vnd.croft.v3.text+json', 'raw', 'application/vnd.croft.v3.raw'],
  ['application/vnd.github+json', 'raw', 'application/vnd.github.raw'],
  ['application/vnd.github.html+json', 'raw', 'application/vnd.github.raw'],
  ['application/vnd.github', 'diff', 'application/vnd.github.diff'],
  ['application/vnd.acme.v4+json', 'raw', 'application/vnd.acme.v4.raw'],
  ['application/vnd.acme.shop.v12+json', 'raw', 'application/vnd.acme.shop.v12.raw'],
  ['application/vnd.acme.shop+json', 'raw', 'application/vnd.acme.raw'],
  ['application/vnd.my-company.v1+json', 'raw', 'application/vnd.my-company.v1.raw'],
  [
    'application/vnd.a.v1+json, text/html,application/vnd.b+json',
    'raw',
    'application/vnd.a.v1.raw, text/html,application/vnd.b.raw',
  ],
  ['application/vnd.a.v1+json; q=0.9 ,*/*;q=0.1', 'raw', 'application/vnd.a.v1.raw; q=0.9 ,*/*;q=0.1'],
  ['application/vnd.github.x-preview+json', 'raw', 'application/vnd.github.x-preview+json'],
  ['application/json', 'raw', 'application/json'],
  [
    'application/octet-stream, application/vnd.a+json',
    'raw',
    'application/octet-stream, application/vnd.a.raw',
  ],
  ['text/vnd.a.v2+xml', 'raw', 'text/vnd.a.v2.raw'],
  ['application/vnd.a.v2x+json', 'raw', 'application/vnd.a.raw'],
  [
    'application/vnd.my-preview-tools.x-preview+json',
    'raw',
    'application/vnd.my-preview-tools.x-preview+json',
  ],
  [
    'application/json;profile="http://x/vnd.a.v1+json"',
    'raw',
    'application/json;profile="http://x/vnd.a.v1+json"',
  ],
  [
    'application/vnd.a.v1+json;p="\\",/vnd.b";q="x,/vnd.c",application/vnd.d+json',
    'raw',
    'application/vnd.a.v1.raw;p="\\",/vnd.b";q="x,/vnd.c",application/vnd.d.raw',
  ],
  ['application/vnd.a.v1+json;p="/vnd.b', 'raw', 'application/vnd.a.v1.raw;p="/vnd.b'],
  ['application/vnd.a.v1+json', '$&', 'application/vnd.a.v1.$&'],
  ['application/vnd.a.v1+json', '', 'application/vnd.a.v1+json'],
])('%s in the format %j is %s', (accept, format, amended) =>
  expect(acceptOf(accept, { format })).toBe(amended),
);

test.each([
  [
    'application/vnd.croft.v3+json',
    ['a', 'b-preview'],
    undefined,
    'application/vnd.croft.a-preview+json,application/vnd.croft.b-preview+json',
  ],
  ['application/vnd.github.v3+json', ['a'], 'raw', 'application/vnd.github.a-preview.raw'],
  [
    'application/vnd.github.z-preview+json',
    ['a'],
    undefined,
    'application/vnd.github.z-preview+json,application/vnd.github.a-preview+json',
  ],
  [
    'application/vnd.z-preview',
    ['a', 'z'],
    undefined,
    'application/vnd.croft.z-preview+json,application/vnd.croft.a-preview+json',
  ],
  ['application/json', ['a'], undefined, 'application/vnd.croft.a-preview+json'],
  [
    'application/json',
    ['a-preview', 'b', 'a'],
    'raw',
    'application/vnd.croft.a-preview.raw,application/vnd.croft.b-preview.raw',
  ],
  ['application/vnd.croft.v3+json', [], undefined, 'application/vnd.croft.v3+json'],
])('%s with the previews %j on /graphql', (accept, previews, format, amended) => {
  expect(acceptOf(accept, { previews, format }, 'POST /graphql')).toBe(amended);
  expect(acceptOf(accept, { previews, format }, 'POST https://h/api/graphql')).toBe(amended);
});

test('previews mean nothing elsewhere', () => {
  expect(acceptOf('application/vnd.croft.v3+json', { previews: ['a'] })).toBe(
    'application/vnd.croft.v3+json',
  );
});

test('a format cannot begin another header', () => {
  expect(() => acceptOf('application/vnd.a+json', { format: 'raw\r\nx: y' })).toThrow(
    expect.objectContaining({ option: 'accept' }),
  );
});
