import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levelAt, refillMs, waitMs } from './token-bucket.ts';

const bucket = { burst: 3, perMs: 1 / 1000 };

describe('a bucket', () => {
  it('is full when nobody knows it', () => {
    expect(levelAt(bucket, undefined, 5)).toEqual({ tokens: 3, atMs: 5 });
  });

  it('refills evenly, up to its burst', () => {
    expect(levelAt(bucket, { tokens: 0, atMs: 0 }, 1500).tokens).toBe(1.5);
    expect(levelAt(bucket, { tokens: 0, atMs: 0 }, 1_000_000).tokens).toBe(3);
  });

  it('gives nothing for a clock that goes back, nor twice for the same time', () => {
    const later = levelAt(bucket, { tokens: 1, atMs: 5000 }, 1000);
    expect(later).toEqual({ tokens: 1, atMs: 5000 });
    expect(levelAt(bucket, later, 5000).tokens).toBe(1);
  });

  it('says how long to wait for a whole token', () => {
    expect([1, 0.25, 0, -1].map((tokens) => waitMs(bucket, tokens))).toEqual([0, 750, 1000, 2000]);
  });

  it.each([
    { burst: 0, perMs: 1 },
    { burst: 0, perMs: 0 },
    { burst: 3, perMs: 0 },
  ])('%j that can never hold one more says an hour, not infinity', (shape) => {
    expect(waitMs(shape, 0)).toBe(3_600_000);
  });

  it('knows when it is full again', () => {
    expect([refillMs(bucket), refillMs({ burst: 3, perMs: 0 })]).toEqual([3000, 3_600_000]);
  });

  it('never lets through more than its burst and what time gave', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 3000 }), { maxLength: 200 }), (steps) => {
        let nowMs = 0;
        let newestMs = 0;
        let taken = 0;
        let level = levelAt(bucket, undefined, 0);
        for (const step of steps) {
          nowMs += step;
          newestMs = Math.max(newestMs, nowMs);
          level = levelAt(bucket, level, nowMs);
          if (waitMs(bucket, level.tokens) > 0) continue;
          taken++;
          level = { ...level, tokens: level.tokens - 1 };
        }
        expect(taken).toBeLessThanOrEqual(bucket.burst + newestMs * bucket.perMs + 1e-6);
      }),
    );
  });
});
