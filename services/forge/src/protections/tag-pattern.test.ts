import { expect, it } from 'vitest';
import { readTagPattern } from './tag-pattern.ts';

it.each([
  ['v1', 'v1', true],
  ['v1', 'v10', false],
  ['v1', 'V1', false],
  ['v*', 'v', true],
  ['v*', 'v1/rc', true],
  ['v*', 'rv', false],
  ['*', 'a/b/c', true],
  ['v**', 'v1/rc', true],
  ['*-release', '1.0-release', true],
  ['v?', 'v/', true],
  ['v?', 'v', false],
  ['v[0-9]', 'v7', true],
  ['v[!0-9]', 'v7', false],
  ['v[!0-9]', 'vx', true],
  ['v[^0-9]', 'v7', false],
  ['v[]]', 'v]', true],
  ['v[a\\]', 'v\\', true],
  ['{v,rel}-*', 'rel-2', true],
  ['{v,rel}-*', 're-2', false],
  ['{v{1,2},w}', 'v2', true],
  ['v{1,}', 'v', true],
  ['v,1', 'v,1', true],
  ['v}', 'v}', true],
  ['v\\*', 'v*', true],
  ['v\\*', 'vx', false],
  ['v\\', 'v\\', true],
  ['v1.0', 'v1x0', false],
  ['(a|b)+$^', '(a|b)+$^', true],
  ['(a|b)+', 'a', false],
  ['🌱?', '🌱🌱', true],
  ['/^v\\d+/', 'v12-rc', true],
  ['/^v\\d+/', 'xv12', false],
  ['/v/', 'a-v-b', true],
  ['//', 'anything', true],
  ['/^a/b$/', 'a/b', true],
  ['/', '/', true],
  ['/v', '/v', true],
  ['/^(?i)release-\\pN+$/', 'RELEASE-12', true],
  ['/^\\Qa.b\\E$/', 'axb', false],
  ['/^(?P<major>\\d+)\\.[[:digit:]]$/', '12.3', true],
])('%s against %s: %s', (pattern, name, expected) => {
  expect(readTagPattern(pattern)?.matches(name)).toBe(expected);
});

it.each([
  '[a',
  'v{1',
  'v{1,{2}',
  'v[z-a]',
  '/(/',
  '/v(?=1)/',
  '/(?<!v)1/',
  '/(v)\\1/',
  '/v**/',
  '/v{1001}/',
  '/(?:ab){600}/',
  '/((v{20}){20}){20}/',
])('%s is no pattern', (pattern) => {
  expect(readTagPattern(pattern)).toBeUndefined();
});

it.each([
  '/^(a+)+$/',
  '/^(a|aa)+$/',
  '/^(.*a){12}$/',
  '/([a-z]+)*b/',
  `/^${'(a|b|'.repeat(30)}c${')*'.repeat(30)}$/`,
  '/[ab].{40}!.$/',
])('%s, made to be slow, is not', (pattern) => {
  const read = readTagPattern(pattern);
  expect(read?.matches(`${'a'.repeat(240)}!`)).toBe(false);
});

it('a glob made to be slow is not', () => {
  const pattern = readTagPattern(`${'*a'.repeat(60)}b`);
  expect(pattern?.matches('a'.repeat(250))).toBe(false);
});
