import { describe, expect, test } from 'vitest';
import { answeredType, codeDigits, isAcceptable, tokenHashOf } from './one-time-code.ts';

const sentAt = new Date('2026-01-02T03:04:05Z');
const after = (ms: number): Date => new Date(sentAt.getTime() + ms);

describe('one-time codes (§3.8)', () => {
  test('the hash in a link is hex SHA-224 of address and code', () => {
    // printf 'ada@example.com123456' | sha224sum
    expect(tokenHashOf('ada@example.com', '123456')).toBe(
      'b3e6748f730bb25fa8ce9a5fda7fd5bf5f56ee21419043fe1c94d975',
    );
  });

  test.each([
    ['just sent', 0, 0, true],
    ['in its last moment', 999, 0, true],
    ['at its end', 1000, 0, false],
    ['after nine wrong guesses', 0, 9, true],
    ['after ten wrong guesses', 0, 10, false],
  ])('%s', (_name, ageMs, wrongGuesses, acceptable) => {
    expect(isAcceptable({ sentAt, wrongGuesses }, after(ageMs), 1000)).toBe(acceptable);
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
