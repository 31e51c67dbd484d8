import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, splitPatterns } from './glob.ts';

const table: [pattern: string, text: string, matches: boolean][] = [
  ['abc', 'abc', true],
  ['abc', 'abcd', false],
  ['', '', true],
  ['*', '', true],
  ['*', 'a-b', true],
  ['*', 'a.b', false],
  ['*', 'a/b', false],
  ['**', 'a.b/c', true],
  ['a?c', 'abc', true],
  ['a?c', 'a.c', false],
  ['a?c', 'ac', false],
  ['[abc]x', 'bx', true],
  ['[abc]x', 'dx', false],
  ['[!abc]x', 'dx', true],
  ['[!abc]x', 'ax', false],
  ['[a-z]9', 'q9', true],
  ['[a-z]9', 'Q9', false],
  ['[]]', ']', true],
  ['{a,b}c', 'ac', true],
  ['{a,b}c', 'bc', true],
  ['{a,b}c', 'cc', false],
  ['{a*,{b,c}d}', 'cd', true],
  ['{a*,{b,c}d}', 'axyz', true],
  ['{,x}y', 'y', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['https://*.example.{com,org}/**', 'https://a.example.org/b/c?d=e', true],
];

describe('globs', () => {
  test.each(table)('%s against %s: %s', (pattern, text, matches) => {
    expect(compileGlob(pattern)(text)).toBe(matches);
  });

  test.each(['[abc', '{a,b', 'a\\', '[a-'])('%s is refused as malformed', (pattern) => {
    expect(() => compileGlob(pattern)).toThrow(/expected/);
  });

  test('a text matches itself, escaped', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const escaped = Array.from(text)
          .map((character) => `\\${character}`)
          .join('');
        expect(compileGlob(escaped)(text)).toBe(true);
      }),
    );
  });

  test('a pattern made to stall a backtracking matcher takes no time', () => {
    const matches = compileGlob(`${'**a'.repeat(60)}b`);
    const startedAt = performance.now();
    expect(matches('a'.repeat(4_000))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('a list is split at its commas but not inside braces', () => {
    expect(splitPatterns('https://a, https://{b,c}.d ,,')).toEqual(['https://a', 'https://{b,c}.d']);
  });
});
