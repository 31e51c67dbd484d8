import { expect, it } from 'vitest';
import { readGlob } from './glob.ts';

it.each([
  ['main', 'main', true],
  ['main', 'Main', false],
  ['main', 'mainly', false],
  ['release/*', 'release/1.0', true],
  ['release/*', 'release/', true],
  ['release/*', 'release/1/2', false],
  ['release/*', 'release', false],
  ['release/**', 'release/1/2', true],
  ['**', 'a/b/c', true],
  ['*', 'a/b', false],
  ['*', '.hidden', true],
  ['**/fix', 'a/b/fix', true],
  ['v?.?', 'v1.0', true],
  ['v?.?', 'v/.0', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a-c]x', 'dx', true],
  ['[!a]', '/', false],
  ['{main,release/*}', 'release/2', true],
  ['{main,release/*}', 'mai', false],
  ['a{b,{c,d}e}f', 'adef', true],
  ['a{b,}c', 'ac', true],
  ['a\\*b', 'a*b', true],
  ['a\\*b', 'axb', false],
  ['a.b', 'axb', false],
  ['(a|b)+', 'a', false],
  ['!main', 'other', false],
])('%s against %s: %s', (pattern, text, expected) => {
  expect(readGlob(pattern)?.(text)).toBe(expected);
});

it.each([
  '[a',
  'a{b',
  '{a,{b}',
  '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}',
  `{a,b}{a,b}{a,b}{a,b}{a,b}${'x'.repeat(128)}`,
])('%.40s is no pattern', (pattern) => {
  expect(readGlob(pattern)).toBeUndefined();
});

it('a pattern made to be slow is not', () => {
  const matches = readGlob(`${'*a'.repeat(60)}b`);
  const start = performance.now();
  expect(matches?.('a'.repeat(250))).toBe(false);
  expect(performance.now() - start).toBeLessThan(1000);
});

it('says no where there is no work left', () => {
  const takes = readGlob('**/*.ts');
  const work = { left: 100 };
  expect([takes?.('src/a.ts', work), work.left < 0]).toEqual([true, false]);
  expect([takes?.(`${'a/'.repeat(100)}a.ts`, work), work.left < 0]).toEqual([false, true]);
  expect(takes?.(`${'a/'.repeat(100)}a.ts`)).toBe(true);
});
