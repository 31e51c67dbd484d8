import { performance } from 'node:perf_hooks';

/** Work of which only so much may be under way at once. */
export interface Slots {
  /**
   * Runs the work when a slot is free, in the order of arrival.
   * @param refuse makes the error to throw instead when the expected wait, in milliseconds, is too long
   */
  run<T>(work: () => Promise<T>, refuse: (expectedWaitMs: number) => Error): Promise<T>;
}

/** How much the latest duration counts in the average. */
const WEIGHT = 0.2;
/** What a piece of work is expected to take before one was seen. */
const FIRST_GUESS_MS = 30;

/** Slots with a queue that is bounded by time, because a bound in places would mean another wait on every machine. */
export function createSlots(count: number, maxWaitMs: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  let averageMs = FIRST_GUESS_MS;

  return {
    async run(work, refuse) {
      if (free === 0) {
        const expectedWaitMs = ((waiting.length + 1) * averageMs) / count;
        if (expectedWaitMs > maxWaitMs) throw refuse(expectedWaitMs);
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else free--;
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        averageMs += (performance.now() - startedAt - averageMs) * WEIGHT;
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
