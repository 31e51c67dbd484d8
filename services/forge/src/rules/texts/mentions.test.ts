import { expect, it } from 'vitest';
import { readMentions } from './mentions.ts';

it.each([
  ['', []],
  ['@ada please', ['ada']],
  ['ask @Ada, @grace.', ['ada', 'grace']],
  ['(@ada-b_c.d)', ['ada-b_c.d']],
  ['mail ada@example.test or see /@ada', []],
  ['@@ada @ ada', []],
  ['`@ada` and ``` @grace', ['grace']],
  ['```\n@ada\n```\n@grace', ['grace']],
  ['~~~~\n@ada\n~~~\n@bob', []],
  ['@ada @ADA', ['ada']],
])('%j names %j', (text, names) => {
  expect(readMentions(text)).toEqual(names);
});

it('looks at the beginning of a long text only', () => {
  expect(readMentions(`@ada ${'x '.repeat(128 * 1024)} @grace`)).toEqual(['ada']);
});

it('reads hostile texts in no time and calls no crowd', () => {
  const startedAt = performance.now();
  readMentions('`'.repeat(200_000));
  readMentions(`@${'a.'.repeat(100_000)}`);
  readMentions('@a-'.repeat(100_000));
  expect(readMentions(Array.from({ length: 1000 }, (_, n) => `@p${n}`).join(' '))).toHaveLength(50);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
