import { expect, test } from 'vitest';
import { knownMethod, routePattern, shownParameter } from './route.ts';

test.each([
  ['/admin/users/:user_id', '/admin/users/{user_id}'],
  ['/admin/users/:user_id/factors/:factor_id', '/admin/users/{user_id}/factors/{factor_id}'],
  ['/a/:id(^\\d+$)', '/a/{id}'],
  ['/a/:optional?', '/a/{optional}'],
  ['/files/*', '/files/*'],
  ['/health', '/health'],
  ['none', 'none'],
])('%s is told as %s', (url, expected) => {
  expect(routePattern(url)).toBe(expected);
});

test.each([
  ['2f1d6f8e-6f6b-4b0a-9a53-3f4f2b1d0c9e', true],
  ['2F1D6F8E-6F6B-4B0A-9A53-3F4F2B1D0C9E', true],
  ['42', true],
  ['ada@example.com', false],
  ['2f1d6f8e-6f6b-4b0a-9a53-3f4f2b1d0c9e@example.com', false],
  ['v1.MRjUuLbk2GgH0cZ5', false],
  ['d41d8cd98f00b204e9800998ecf8427e', false],
  ['12345678901234567890', false],
  ['', false],
])('a parameter %s is shown: %s', (value, shown) => {
  expect(shownParameter(value)).toBe(shown ? value : 'hidden');
});

test('methods are those of routes, or none of them', () => {
  expect([knownMethod('PUT'), knownMethod('PROPFIND'), knownMethod('constructor')]).toEqual([
    'PUT',
    '_OTHER',
    '_OTHER',
  ]);
});
