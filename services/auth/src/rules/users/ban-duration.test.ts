import { expect, test } from 'vitest';
import { decideBan } from './ban-duration.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const msOf = (text: string) => (decideBan(text, now) as Date).getTime() - now.getTime();

test.each([
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['5.s', 5_000],
  ['300ms', 300],
  ['2000us', 2],
  ['2000µs', 2],
  ['2000μs', 2],
  ['3000000ns', 3],
  ['+1m', 60_000],
  ['-1m', -60_000],
  ['0', 0],
  ['-0', 0],
  ['876000h', 876_000 * 3_600_000],
])('%s is %d ms', (text, ms) => {
  expect(msOf(text)).toBe(ms);
});

test('none lifts a ban, nothing changes nothing', () => {
  expect(decideBan('none', now)).toBeNull();
  expect(decideBan('', now)).toBeUndefined();
});

test.each([
  '24',
  '1d',
  'h',
  '.h',
  '.',
  '1h 30m',
  ' 1h',
  '1h\n',
  'NONE',
  'forever',
  '1e3h',
  '0x10h',
  '--1h',
  '1..5h',
  '+',
  '9999999999h',
  `${'9'.repeat(400)}h`,
  '1h'.repeat(60),
])('%j is no duration', (text) => {
  expect(() => decideBan(text, now)).toThrow('invalid format for ban duration');
});

test('a text made to confuse the parser is refused at once', () => {
  const started = performance.now();
  expect(() => decideBan(`${'1'.repeat(500_000)}x`, now)).toThrow('invalid format');
  expect(performance.now() - started).toBeLessThan(50);
});
