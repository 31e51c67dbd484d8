import { expect, test } from 'vitest';
import { parsePairs } from './index.ts';

test.each([
  ['', {}],
  [',', {}],
  ['a=1', { a: '1' }],
  [' a = 1 , b=2,', { a: '1', b: '2' }],
  ['authorization=Bearer%20x%3D', { authorization: 'Bearer x=' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=', { a: '' }],
  ['a=1,a=2', { a: '2' }],
])('%j', (text, expected) => {
  expect({ ...parsePairs(text) }).toEqual(expected);
});

test.each(['a', '=1', ' =1', 'a=1,b', 'a=%', 'secret=%c3%28'])(
  '%j is none, and its value is not repeated',
  (text) => {
    expect(() => parsePairs(text)).toThrow();
    expect(() => parsePairs(text)).not.toThrow(/%|1/);
  },
);

test('a name cannot reach the prototype', () => {
  const pairs = parsePairs('__proto__=x,constructor=y');
  expect(Object.keys(pairs)).toEqual(['__proto__', 'constructor']);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});
