import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readExpression } from './expression.ts';

it.each([
  ['^v\\d+', 'v12', true],
  ['^v\\d+', 'xv12', false],
  ['v\\d+', 'a-v1-b', true],
  ['^v\\d+\\.\\d+$', 'v1.20', true],
  ['^v\\d+\\.\\d+$', 'v1.20-rc1', false],
  ['\\Av\\z', 'v', true],
  ['', 'anything', true],
  ['^$', 'v', false],
  ['a|b', 'xbx', true],
  ['^(a|bc)+$', 'abcbca', true],
  ['^(a|bc)+$', 'abcb', false],
  ['^a|b$', 'ac', true],
  ['^(?:a|)$', '', true],
  ['^(?P<major>\\d+)-(?<minor>\\d)$', '12-3', true],
  ['^a*?b??$', 'aab', true],
  ['^a{2}$', 'aa', true],
  ['^a{2}$', 'a', false],
  ['^a{2,}$', 'aaaa', true],
  ['^a{2,3}$', 'aaaa', false],
  ['^(ab){0,2}$', 'abab', true],
  ['^a{,2}$', 'a{,2}', true],
  ['^a{$', 'a{', true],
  ['^[a-c_]+$', 'a_c', true],
  ['^[^a-c]$', 'b', false],
  ['^[^a-c]$', '/', true],
  ['^[]x]+$', ']x', true],
  ['^[x-]$', '-', true],
  ['^[\\d.\\-]+$', '1.2-3', true],
  ['^[\\D]$', '1', false],
  ['^[[:alpha:][:digit:]]+$', 'a1', true],
  ['^[[:upper:]]$', 'a', false],
  ['^v.$', 'v/', true],
  ['^v.$', 'v🌱', true],
  ['\\brc\\b', 'v1-rc', true],
  ['\\brc\\b', 'v1-rc1', false],
  ['v\\B1', 'v1', true],
  ['^\\x41\\x{1f331}$', 'A🌱', true],
  ['^a\\.b$', 'axb', false],
  ['(?i)^RELEASE', 'release-1', true],
  ['(?i:V)1', 'v1', true],
  ['(?i:V)X', 'vx', false],
  ['(?i)a(?-i)b', 'AB', false],
  ['(?i)^[a-c]$', 'B', true],
  ['(?i)^[^a-c]$', 'B', false],
  ['(?i)^[^a-c]$', 'D', true],
  ['a(?i)b|C', 'xc', true],
  ['a(?i:b)|C', 'xc', false],
  ['(?sU)^v.*$', 'v1', true],
  ['^(a*)*$', 'aaa', true],
  ['^(a*)*$', 'aab', false],
  ['^(|a)+$', 'aa', true],
])('%s against %s: %s', (pattern, text, expected) => {
  expect(readExpression(pattern)?.matches(text)).toBe(expected);
});

it.each([
  ['look-ahead', 'v(?=1)'],
  ['look-ahead, negated', 'v(?!1)'],
  ['look-behind', '(?<=v)1'],
  ['look-behind, negated', '(?<!v)1'],
  ['a back reference', '(v)\\1'],
  ['a back reference by name', '(?P<v>v)(?P=v)'],
  ['a group left open', '(v'],
  ['a group never opened', 'v)'],
  ['a class left open', '[a'],
  ['a range backwards', '[z-a]'],
  ['a range of a kind', '[\\d-z]'],
  ['a kind of characters that nobody knows', '[[:nobody:]]'],
  ['nothing to repeat', '*v'],
  ['nothing to repeat a number of times', '{2}'],
  ['repetition of a repetition', 'v**'],
  ['numbers backwards', 'v{3,2}'],
  ['more than there is room for', 'v{1000}'],
  ['more than there is room for, multiplied', '((v{20}){20}){20}'],
  ['more than there is room for, between brackets', `[${'ab'.repeat(10)}]{20}`],
  ['nothing, repeated more often than there is room for', '(){999}'],
  ['an escape without meaning', '\\k'],
  ['an escape without end', 'v\\'],
  ['a category of characters', '\\pL'],
  ['a flag nobody knows', '(?x)v'],
  ['a character beyond all characters', '\\x{110000}'],
])('%s is refused: %s', (_what, pattern) => {
  expect(readExpression(pattern)).toBeUndefined();
});

it.each([
  ['^(a+)+$'],
  ['^(a|a)*$'],
  ['^(a|aa)+$'],
  ['^(.*a){12}$'],
  ['^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaaaaaaaaaa$'],
  ['([a-z]+)*b'],
  ['^((a*)*)*$'],
  [`^${'(a|b|'.repeat(30)}c${')*'.repeat(30)}$`],
])('%s, made to be slow, is not', (pattern) => {
  const expression = readExpression(pattern);
  const start = performance.now();
  expect(expression?.matches(`${'a'.repeat(250)}!`)).toBe(false);
  expect(performance.now() - start).toBeLessThan(200);
});

it('matches what the language’s own expressions match', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '1',
    '.',
    '\\d',
    '\\w',
    '[ab]',
    '[^a]',
    'B',
    '[^B]',
    '\\b',
    '^',
    '$',
    '-',
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, two]) => `${one}${two}`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, two]) => `(?:${one}|${two})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?'))
        .map(([one, times]) => `(?:${one})${times}`),
    ),
  }));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '1', '-'), maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, fc.constantFrom('', 'i'), (source, given, flag) => {
      const expression = readExpression(flag === '' ? source : `(?i)${source}`);
      fc.pre(expression !== undefined);
      const expected = new RegExp(source, `u${flag}`).test(given);
      expect([source, given, flag, expression?.matches(given)]).toEqual([source, given, flag, expected]);
    }),
    { numRuns: 2_000 },
  );
});
