import { expect, test } from 'vitest';
import { inOrderOfJsonb } from './jsonb-order.ts';

test('names go by length in bytes, then by bytes, at every depth; arrays keep their order', () => {
  const given = { full_name: 'x', é: 1, abc: null, b: 2, a: { bb: 1, a: [{ dd: 1, c: 2 }, 1] }, Z: 3 };
  expect(JSON.stringify(inOrderOfJsonb(given))).toBe(
    '{"Z":3,"a":{"a":[{"c":2,"dd":1},1],"bb":1},"b":2,"é":1,"abc":null,"full_name":"x"}',
  );
});

test('__proto__ stays a member like any other', () => {
  const text = '{"b":{"__proto__":{"x":1}}}';
  expect(JSON.stringify(inOrderOfJsonb(JSON.parse(text)))).toBe(text);
});
