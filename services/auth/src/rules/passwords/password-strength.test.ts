import { Failure } from '@croft/failure';
import { describe, expect, test } from 'vitest';
import { checkNewPassword, findWeakness, type PasswordPolicy } from './password-strength.ts';

const plain: PasswordPolicy = { minBytes: 6, requiredCharacters: [] };
const strict = { minBytes: 8, requiredCharacters: ['abc', 'ABC', '0123456789'] };

const table: [password: string, policy: PasswordPolicy, reasons: string[] | undefined][] = [
  ['secret', plain, undefined],
  ['secre', plain, ['length']],
  ['', plain, ['length']],
  ['12345', { ...plain, minBytes: 1 }, ['length']], // never below 6
  ['äöü', plain, undefined], // six bytes
  ['xB345678', strict, ['characters']],
  ['aB345678', strict, undefined],
  ['xyz', strict, ['length', 'characters']],
  ['a'.repeat(72), plain, undefined],
];

describe('password strength (§3.7)', () => {
  test.each(table)('%s under %o lacks %s', (password, policy, reasons) => {
    expect(findWeakness(password, policy)?.reasons).toEqual(reasons);
    if (reasons === undefined) return checkNewPassword(password, policy);
    expect(() => checkNewPassword(password, policy)).toThrow(
      expect.objectContaining({ code: 'weak_password', body: { weak_password: { reasons } } }),
    );
  });

  test('the words of the protocol', () => {
    expect(findWeakness('xyz', strict)?.message).toBe(
      'Password should be at least 8 characters. Password should contain at least one character of each: abc, ABC, 0123456789.',
    );
  });

  test('a leaked one is refused with everything else it lacks', () => {
    expect(findWeakness('secret', plain, true)).toEqual({
      message: 'Password is known to be weak and easy to guess, please choose a different one.',
      reasons: ['pwned'],
    });
    expect(findWeakness('xyz', strict, true)?.reasons).toEqual(['length', 'characters', 'pwned']);
    expect(() => checkNewPassword('secret', plain, true)).toThrow(
      expect.objectContaining({ code: 'weak_password', body: { weak_password: { reasons: ['pwned'] } } }),
    );
  });

  test('more than 72 bytes are refused in other words', () => {
    expect(() => checkNewPassword('ä'.repeat(37), plain)).toThrow(
      new Failure('invalid', 'validation_failed', 'Password cannot be longer than 72 characters'),
    );
  });
});
