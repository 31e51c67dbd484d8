/** Where the time comes from; tests put a fixed one in its place. */
export interface Clock {
  now(): Date;
}

/** The time of the machine. */
export const systemClock: Clock = { now: () => new Date() };
