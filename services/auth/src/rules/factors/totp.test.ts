import fc from 'fast-check';
import { Secret, TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import { base32, fromBase32 } from './base32.ts';
import { KEY_BYTES, stepOf, totpCode } from './totp.ts';

const RFC_KEY = Buffer.from('12345678901234567890');

// RFC 6238, appendix B, the rows of SHA-1.
test.each([
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
])('RFC 6238: at %d the code is %s', (seconds, code) => {
  expect(totpCode(RFC_KEY, Math.floor(seconds / 30), 8)).toBe(code);
});

// RFC 4226, appendix D.
test('RFC 4226: the first ten codes', () => {
  const codes = Array.from({ length: 10 }, (_, step) => totpCode(RFC_KEY, step));
  expect(codes).toEqual([
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489',
  ]);
});

// RFC 4648 §10, without padding.
test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('RFC 4648: %s is %s', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
  expect(fromBase32(encoded).toString()).toBe(text);
});

test('base32 goes there and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(fromBase32(base32(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
    }),
  );
});

test('another implementation makes the same codes of the same key', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: KEY_BYTES, maxLength: KEY_BYTES }),
      fc.integer({ min: 30, max: 4_000_000_000 }),
      (bytes, seconds) => {
        const key = Buffer.from(bytes);
        const theirs = new TOTP({ secret: Secret.fromBase32(base32(key)) }).generate({
          timestamp: seconds * 1000,
        });
        expect(stepOf(key, theirs, new Date(seconds * 1000))).toBe(Math.floor(seconds / 30));
      },
    ),
  );
});

test('codes of three steps count, and nothing that looks like one', () => {
  const now = new Date(1_700_000_000_000);
  const current = Math.floor(now.getTime() / 30_000);
  const found = (steps: number) => stepOf(RFC_KEY, totpCode(RFC_KEY, current + steps), now);
  expect([-2, -1, 0, 1, 2].map(found)).toEqual([undefined, current - 1, current, current + 1, undefined]);
  const code = totpCode(RFC_KEY, current);
  const wide = code.replace(/./g, (digit) => String.fromCodePoint(digit.charCodeAt(0) + 0x100));
  for (const other of ['', '------', `${code} `, code.slice(1), `${code}0`, wide]) {
    expect(stepOf(RFC_KEY, other, now)).toBeUndefined();
  }
});
