import type { Clock } from '@croft/runtime';

/** A clock that stands still until it is told to move. */
export interface FixedClock extends Clock {
  advance(milliseconds: number): void;
}

/** Starts at the given instant, or at one that is easy to recognise. */
export function fixedClock(start = '2026-01-02T03:04:05.678Z'): FixedClock {
  let time = Date.parse(start);
  return {
    now: () => new Date(time),
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}
