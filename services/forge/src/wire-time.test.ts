import { expect, it } from 'vitest';
import { wireTime } from './wire-time.ts';

it.each([
  ['2026-11-22T10:59:04.999Z', '2026-11-22T10:59:04Z'],
  ['2024-02-29T23:59:59.000Z', '2024-02-29T23:59:59Z'],
  ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59Z'],
  ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00Z'],
  ['+010000-01-01T01:02:03.000Z', '+010000-01-01T01:02:03Z'],
])('%s is told as %s', (time, told) => {
  expect(wireTime(new Date(time))).toBe(told);
});

it('tells every time as the language spells it, without the parts of a second', () => {
  for (let ms = -3e12; ms < 5e12; ms += 7_777_777_777) {
    const time = new Date(ms);
    expect(wireTime(time)).toBe(time.toISOString().replace(/\.\d{3}/, ''));
  }
});

it('refuses a time that is none', () => {
  expect(() => wireTime(new Date(Number.NaN))).toThrow(RangeError);
});
