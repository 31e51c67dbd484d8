import { expect, test } from 'vitest';
import { perFiveMinutes, perHour, perTime } from './rate-value.ts';

const HOUR_MS = 3_600_000;

test.each([
  ['150 in five minutes: 30 at once, then one in two seconds', perFiveMinutes(150), 30, 2000],
  ['30 in five minutes', perFiveMinutes(30), 30, 10_000],
  ['fewer than 30: no more than that at once', perFiveMinutes(5), 5, 60_000],
  ['30 in an hour', perHour(30), 30, HOUR_MS / 30],
  ['100 in an hour may come at once', perHour(100), 100, HOUR_MS / 100],
  ['half a one in an hour is one in two', perHour(0.5), 1, 2 * HOUR_MS],
  ['100/24h', perTime({ events: 100, perMs: 24 * HOUR_MS }), 100, (24 * HOUR_MS) / 100],
  ['10.5 an hour', perTime({ events: 10.5, perMs: HOUR_MS }), 10.5, HOUR_MS / 10.5],
])('%s', (_name, bucket, burst, msEach) => {
  expect(bucket.burst).toBe(burst);
  expect(1 / bucket.perMs).toBeCloseTo(msEach, 6);
});

test('0 permits nothing', () => {
  const nothing = { burst: 0, perMs: 0 };
  expect([perFiveMinutes(0), perHour(0), perTime({ events: 0, perMs: HOUR_MS })]).toEqual([
    nothing,
    nothing,
    nothing,
  ]);
});
