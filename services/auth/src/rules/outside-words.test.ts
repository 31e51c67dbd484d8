import { expect, test } from 'vitest';
import { outsideWords } from './outside-words.ts';

test.each([
  ['', ''],
  ['Grüße, 👋\n', 'Grüße, 👋\n'],
  ['a\0b\0', 'ab'],
  ['\udc00a\ud800', '\ufffda\ufffd'],
  [`${'x'.repeat(511)}👋`, `${'x'.repeat(511)}\ufffd`],
  ['x'.repeat(100_000), 'x'.repeat(512)],
])('%j → %j', (text, told) => {
  expect(outsideWords(text)).toBe(told);
});
