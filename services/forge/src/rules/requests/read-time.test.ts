import { describe, expect, it } from 'vitest';
import { canBeTold, readBodyTime, readQueryTime, readTimeRange } from './read-time.ts';

describe('a time in a query', () => {
  it.each([
    ['2026-01-31T01:00:00Z', '2026-01-31T01:00:00.000Z'],
    ['2026-01-31t01:00:00z', '2026-01-31T01:00:00.000Z'],
    ['2026-01-31T01:00:00.5Z', '2026-01-31T01:00:00.500Z'],
    ['2026-01-31T01:00+01:00', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T01:00:00 01:00', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 01:00:00 01:00', '2026-01-31T00:00:00.000Z'],
  ])('%s is %s', (text, time) => expect(readQueryTime('since', text)?.toISOString()).toBe(time));

  it.each([undefined, ''])('%j is none', (text) => expect(readQueryTime('since', text)).toBeUndefined());

  it('is a day where days are times', () => {
    const day = (text: string) => readQueryTime('since', text, { days: true })?.toISOString();
    expect(day('2026-01-31')).toBe('2026-01-31T00:00:00.000Z');
    expect(() => day('2026-01-32')).toThrow('[since]: expected a time');
  });

  it.each([
    'yesterday',
    '2026-01-31',
    '2026-13-31T00:00:00Z',
    '2026-01-31T00:00:00',
    '2026-01-31T25:00:00Z',
    '99999-01-01',
    '1700000000',
    '2026-01-31T00:00:00Z\0',
    `2026-01-31T00:00:00.${'0'.repeat(1000)}Z`,
  ])('%j is refused', (text) => {
    expect(() => readTimeRange({ before: text })).toThrow(
      '[before]: expected a time such as 2026-01-31T00:00:00Z',
    );
  });
});

it.each([
  ['2026-01-31T01:00:00.999+01:00', '2026-01-31T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('a time in a body: %j is %s', (text, time) => expect(readBodyTime(text)?.toISOString()).toBe(time));

it.each([
  ['0001-01-01T00:00:00+14:00', true],
  ['0001-01-02T00:00:00Z', true],
  ['0001-01-02T00:00:00+14:00', true],
  ['0000-12-31T23:59:59Z', false],
  ['0000-01-01T00:00:00Z', false],
  ['2026-01-31T00:00:00-12:00', true],
  ['9999-12-31T00:00:00Z', true],
  ['9999-12-31T23:59:59.999+14:00', true],
  ['9999-12-31T23:59:59-00:01', false],
  // Not this moment, but the end of its day.
  ['9999-12-31T00:00:00-00:01', false],
])('a time in a body that can be told again, like the end of its day: %s %s', (text, can) => {
  expect(canBeTold(text)).toBe(can);
});

it('what is no time of a body is not judged, and takes no time', () => {
  const begin = performance.now();
  expect(canBeTold('T'.repeat(1_000_000))).toBe(true);
  expect(canBeTold(`2026-01-31${'T00'.repeat(300_000)}`)).toBe(true);
  expect(performance.now() - begin).toBeLessThan(1000);
});
