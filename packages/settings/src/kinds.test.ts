import { describe, expect, it } from 'vitest';
import { float, ipAddress, pairs, rate, timestamp, url } from './index.ts';

describe('float', () => {
  it.each([
    ['0', 0],
    ['10.5', 10.5],
    ['0.0000099', 0.0000099],
    ['9.9e-6', 0.0000099],
  ])('reads %s', (given, expected) => {
    expect(float().parse(given)).toBe(expected);
  });

  it.each(['', 'x', '1,5', '.5', '1.', '0x10', 'Infinity', 'NaN', ' 1'])('refuses %j', (given) => {
    expect(() => float().parse(given)).toThrow('expected a number');
  });

  it('keeps its bounds', () => {
    expect(() => float().parse('-0.1')).toThrow('expected a number from 0');
    expect(() => float(0, 1).parse('1.01')).toThrow('expected a number from 0 to 1');
    expect(() => float(0).parse('1e999')).toThrow('expected a number from 0');
  });
});

describe('url', () => {
  it.each([
    ['https://code.test', 'https://code.test'],
    ['http://code.test:3000/forge/', 'http://code.test:3000/forge'],
  ])('reads %s', (given, expected) => {
    expect(url.parse(given)).toBe(expected);
  });

  it.each([
    'https://code.test/?a=b',
    'https://code.test?',
    'https://code.test/forge#top',
    'https://code.test/#',
  ])('refuses %s, because links would begin with it', (given) => {
    expect(() => url.parse(given)).toThrow('expected an address without ? and #');
  });

  it.each(['code.test', 'ftp://code.test', ''])('refuses %j', (given) => {
    expect(() => url.parse(given)).toThrow('expected an http(s):// address');
  });
});

describe('rate', () => {
  it.each([
    ['30', { events: 30, perMs: 3_600_000 }],
    ['10.5', { events: 10.5, perMs: 3_600_000 }],
    ['0', { events: 0, perMs: 3_600_000 }],
    ['100/24h', { events: 100, perMs: 86_400_000 }],
    ['5/1m30s', { events: 5, perMs: 90_000 }],
  ])('reads %s', (given, expected) => {
    expect(rate.parse(given)).toEqual(expected);
  });

  it.each(['', '-1', 'often', '30/', '30/0', '30/0s', '30/24', '/1h', '30/1h/2', '30 / 1h', '30/1h\n'])(
    'refuses %j',
    (given) => {
      expect(() => rate.parse(given)).toThrow('expected a rate such as 30 (an hour) or 100/24h');
    },
  );
});

describe('pairs', () => {
  it('reads names and values, blanks aside', () => {
    expect([...pairs.parse('14155552671:123456, 4912345 : 000000,')]).toEqual([
      ['14155552671', '123456'],
      ['4912345', '000000'],
    ]);
    expect([...pairs.parse('')]).toEqual([]);
    expect(pairs.parse('a:b:c').get('a')).toBe('b:c');
  });

  it.each(['a', 'a:', ':b', 'a:1,b'])('refuses %j', (given) => {
    expect(() => pairs.parse(given)).toThrow('expected name:value,name:value');
  });

  it('refuses a name that stands twice', () => {
    expect(() => pairs.parse('a:1,a:2')).toThrow('a is there twice');
  });
});

describe('timestamp', () => {
  it.each([
    ['2030-01-31T12:00:00Z', '2030-01-31T12:00:00.000Z'],
    ['2030-01-31T12:00:00.25+02:00', '2030-01-31T10:00:00.250Z'],
    ['2028-02-29T00:00:00z', '2028-02-29T00:00:00.000Z'],
  ])('reads %s', (given, expected) => {
    expect(timestamp.parse(given).toISOString()).toBe(expected);
  });

  it.each([
    '',
    'tomorrow',
    '2030-01-31',
    '2030-01-31T12:00:00',
    '2030-02-30T00:00:00Z',
    '2030-13-01T00:00:00Z',
  ])('refuses %j', (given) => {
    expect(() => timestamp.parse(given)).toThrow('expected a time such as 2030-01-31T12:00:00Z');
  });
});

describe('ipAddress', () => {
  it.each(['0.0.0.0', '127.0.0.1', '::', '2001:db8::1'])('reads %s', (given) => {
    expect(ipAddress.parse(given)).toBe(given);
  });

  it.each(['', 'localhost', '1.2.3', '1.2.3.4.5', '[::1]', '127.0.0.1:80'])('refuses %j', (given) => {
    expect(() => ipAddress.parse(given)).toThrow('expected an IP address');
  });
});
