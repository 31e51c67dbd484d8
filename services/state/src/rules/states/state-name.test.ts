import { describe, expect, it } from 'vitest';
import { automaticName, checkTypedName } from './state-name.ts';

describe('checkTypedName', () => {
  it.each(['', 'a', 'before-upgrade', 'A.b_c:d-e', '2026-11-21', 'x'.repeat(100), 'automatic', 'my_auto_x'])(
    'takes %j',
    (name) => {
      expect(() => checkTypedName(name)).not.toThrow();
    },
  );

  it.each([
    ['a b/a c', 'not allowed in it: space /'],
    ['é', 'not allowed in it: U+00E9'],
    ['a\n', 'not allowed in it: U+000A'],
    ['👾', 'not allowed in it: U+1F47E'],
    ['x'.repeat(101), 'has at most 100 characters, this one has 101'],
    ['-x', 'does not start with - or .'],
    ['.', 'does not start with - or .'],
    ['auto_', 'names that start with auto_ are kept'],
  ])('refuses %j', (name, says) => {
    expect(() => checkTypedName(name)).toThrow(says);
  });
});

it('automaticName makes six letters or digits of any bytes', () => {
  expect(automaticName(Uint8Array.of(0, 25, 26, 35, 36, 255))).toBe('auto_az09ad');
});
