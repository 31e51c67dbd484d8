import { describe, expect, test } from 'vitest';
import { checkEmailAddress } from './email-address.ts';

describe('e-mail addresses (§3.7)', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.Lovelace+x@Example.COM', 'ada.lovelace+x@example.com'],
    ["o'neill@localhost", "o'neill@localhost"],
  ])('%s is stored as %s', (address, stored) => {
    expect(checkEmailAddress(address)).toBe(stored);
  });

  test.each([
    ['', 'An email address is required'],
    [`${'a'.repeat(244)}@example.com`, 'An email address is too long'],
    ...[
      'ada',
      'ada@',
      '@example.com',
      'a b@example.com',
      ' ada@example.com',
      'ada@example.com\nBcc: x@y.z',
    ].map((address) => [address, 'Unable to validate email address: invalid format']),
    ...[
      'ada@exa mple.com',
      'ada@-x.com',
      '"ada"@example.com',
      'ada@example.com,eve@evil.example',
      'ada@example..com',
      '<ada@example.com>',
    ].map((address) => [address, 'Unable to validate email address: invalid format']),
  ] as [string, string][])('%j: %s', (address, message) => {
    expect(() => checkEmailAddress(address)).toThrow(
      expect.objectContaining({ code: 'validation_failed', message }),
    );
  });
});
