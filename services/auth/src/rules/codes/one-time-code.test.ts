import { describe, expect, test } from 'vitest';
import { answeredType, codeDigits, codeHashOf } from './one-time-code.ts';

describe('one-time codes (§3.8)', () => {
  test('a code is hashed together with its address (SHA-224)', () => {
    // printf 'ada@example.com123456' | sha224sum
    expect(codeHashOf('ada@example.com', '123456')).toBe(
      'b3e6748f730bb25fa8ce9a5fda7fd5bf5f56ee21419043fe1c94d975',
    );
  });

  test.each([
    [6, 6],
    [10, 10],
    [5, 6],
    [11, 6],
  ])('%i digits configured means %i', (configured, digits) => {
    expect(codeDigits(configured)).toBe(digits);
  });

  test.each([
    ['signup', 'confirmation_token', 'signup'],
    ['invite', 'confirmation_token', 'invite'],
    ['email', 'confirmation_token', 'signup'],
    ['email', 'recovery_token', 'magiclink'],
  ] as const)('asked for %s, found a %s: answered %s', (asked, found, answered) => {
    expect(answeredType(asked, found)).toBe(answered);
  });
});
