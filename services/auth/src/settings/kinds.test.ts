import { describe, expect, it } from 'vitest';
import { durationFrom, exactUrl, mailHeaders, proxies, testCodes } from './kinds.ts';

describe('headers of mails', () => {
  it('are texts or lists of them', () => {
    expect(mailHeaders.parse('{"X-Team":["a","b"],"X-Kind":"$messageType"}')).toEqual({
      'X-Team': ['a', 'b'],
      'X-Kind': ['$messageType'],
    });
  });

  it.each([
    'x',
    'null',
    '[]',
    '{"a":1}',
    '{"a b":"c"}',
    '{"a:b":"c"}',
    '{"":"c"}',
    '{"a":"b\\r\\nBcc: c"}',
    '{"a\\r\\nBcc":"c"}',
  ])('refuses %s', (given) => {
    expect(() => mailHeaders.parse(given)).toThrow('expected a JSON object');
  });
});

describe('proxies that are believed', () => {
  it.each([
    ['loopback,private', ['loopback', 'private']],
    ['2', ['2']],
    ['10.0.0.0/8, 2001:db8::/32,192.0.2.1', ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']],
  ])('%s', (given, expected) => {
    expect(proxies.parse(given)).toEqual(expected);
  });

  it.each(['all', '10.0.0.0/33', '10.0.0.0/', '::/129', '1,2', '*', '-1', 'example.org'])(
    'refuses %s',
    (given) => {
      expect(() => proxies.parse(given)).toThrow('expected loopback, private, an address or a network');
    },
  );
});

describe('codes of test numbers', () => {
  it('are found under the number as it is stored', () => {
    expect([...testCodes.parse('+1 415 555 2671:123456,4912345:000000')]).toEqual([
      ['14155552671', '123456'],
      ['4912345', '000000'],
    ]);
  });

  it.each(['0123:123456', '123:12', '123:abcdef', 'phone:123456', '123'])('refuses %s', (given) => {
    expect(() => testCodes.parse(given)).toThrow('expected');
  });
});

it('a redirect URI is kept to the letter', () => {
  expect(exactUrl.parse('https://auth.test/callback/?a=b')).toBe('https://auth.test/callback/?a=b');
  expect(() => exactUrl.parse('javascript:alert(1)')).toThrow('expected an http(s):// address');
});

it('a duration is raised to the least one', () => {
  expect(durationFrom(300_000).parse('60s')).toBe(300_000);
  expect(durationFrom(300_000).parse('1h')).toBe(3_600_000);
});
