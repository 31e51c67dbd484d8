import { performance } from 'node:perf_hooks';

/** Work of which only so much may be under way at once. */
export interface Slots {
  /**
   * Runs the work when a slot is free, in the order of arrival.
   * @param refuse makes the error to throw instead when the expected wait, in milliseconds, is too long
   * @param weight how long the work takes, in units of the caller; light and heavy work may share the slots
   */
  run<T>(work: () => Promise<T>, refuse: (expectedWaitMs: number) => Error, weight?: number): Promise<T>;
}

/** How much the latest duration counts in the average. */
const WEIGHT = 0.2;
/** What work of weight 1 is expected to take before any was seen. */
const FIRST_GUESS_MS = 30;

/** Slots with a queue that is bounded by time, because a bound in places would mean another wait on every machine. */
export function createSlots(count: number, maxWaitMs: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  let waitingWeight = 0;
  let runningWeight = 0;
  let averageMs = FIRST_GUESS_MS;

  return {
    async run(work, refuse, weight = 1) {
      if (free === 0) {
        // What runs counts for the share that a slot has of it: one of them will be the first to end.
        const expectedWaitMs = ((waitingWeight + runningWeight / count) * averageMs) / count;
        if (expectedWaitMs > maxWaitMs) throw refuse(expectedWaitMs);
        waitingWeight += weight;
        await new Promise<void>((resolve) => waiting.push(resolve));
        waitingWeight -= weight;
      } else free--;
      runningWeight += weight;
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        averageMs += ((performance.now() - startedAt) / weight - averageMs) * WEIGHT;
        runningWeight -= weight;
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
