import { expect, it } from 'vitest';
import { lineTexts } from './line-text.ts';

it.each([
  ['plain', ['plain']],
  ['two\nlines\r\n', ['two', 'lines']],
  ['\n \n\t\n', []],
  ['\u001b[31mred\u001b[0m and \u001b]0;title\u0007plain', ['red and plain']],
  ['bell\u0007 nul\0 del\u007f c1\u009b', ['bell\ufffd nul\ufffd del\ufffd c1\ufffd']],
  ['half a pair \ud83d', ['half a pair \ufffd']],
  ['a\tb', ['a b']],
])('%j becomes %j', (text, lines) => {
  expect(lineTexts(text)).toEqual(lines);
});

it('cuts lines that no screen has', () => {
  expect(lineTexts('x'.repeat(10_000))[0]).toHaveLength(4001);
});
