import { AsyncLocalStorage } from 'node:async_hooks';

/** The time something may take; whoever measures it says when it is over. */
export interface TimeLimit {
  over: boolean;
}

const limits = new AsyncLocalStorage<TimeLimit>();

/** Runs work that has so much time, with everything it begins. */
export function withinTime<T>(limit: TimeLimit, work: () => T): T {
  return limits.run(limit, work);
}

/** The time of the work under way, for callbacks that run apart from it. */
export function timeLimit(): TimeLimit | undefined {
  return limits.getStore();
}

/**
 * Every step that changes something says with this that it is about to begin: whoever asked for it has been told that
 * it was not done.
 * @throws Error when the time is over
 */
export function assertInTime(limit = timeLimit()): void {
  if (limit?.over === true) throw new Error('the time for this request is over');
}
