import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@croft/runtime';

/** A step has at least so long, also when those before it took all the time: most need next to nothing. */
const LEAST_MS = 1_000;

/**
 * Waits for what is being closed, step by step, until the deadline (`performance.now()`). A part that fails or takes
 * too long is logged and keeps none of the others open.
 */
export function endUntil(
  deadline: number,
  log: Log,
): (closing: Readonly<Record<string, Promise<unknown> | undefined>>) => Promise<void> {
  return async (closing) => {
    const ms = Math.max(LEAST_MS, deadline - performance.now());
    const timeIsUp = sleep(ms, 'late' as const, { ref: false });
    const ends = Object.entries(closing).map(async ([part, end]) => {
      try {
        const outcome = await Promise.race([end, timeIsUp]);
        if (outcome === 'late') log.warn({ part }, 'a part of the service did not close in time');
      } catch (error) {
        log.warn({ part, err: error }, 'a part of the service could not be closed');
      }
    });
    await Promise.all(ends);
  };
}
