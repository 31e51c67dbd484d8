import type { Bucket } from './token-bucket.ts';

const FIVE_MINUTES_MS = 5 * 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * 60_000;
/** Requests a client may make at once (as in GoTrue). */
const CLIENT_BURST = 30;

/** So many requests of one client in five minutes, at most 30 of them at once. */
export function perFiveMinutes(count: number): Bucket {
  return bucketOf(count, FIVE_MINUTES_MS, CLIENT_BURST);
}

/** So many requests of one client in a minute, at most 30 of them at once. */
export function perMinute(count: number): Bucket {
  return bucketOf(count, MINUTE_MS, CLIENT_BURST);
}

/** So many in an hour, all of them at once if need be. */
export function perHour(count: number): Bucket {
  return bucketOf(count, HOUR_MS, count);
}

/** So many in a time, as `RATE_LIMIT_EMAIL_SENT` says, all of them at once if need be. */
export function perTime(rate: { events: number; perMs: number }): Bucket {
  return bucketOf(rate.events, rate.perMs, rate.events);
}

/** With fewer in all nobody has a share: a sign-up, a second mail and a change of address are one person's needs. */
const LEAST_SHARE = 3;

/** What one client may use of a rate for all: that part of it, at least three as far as there are so many. */
export function shareOf(rate: { events: number; perMs: number }, part: number): typeof rate {
  return { ...rate, events: Math.min(rate.events, Math.max(LEAST_SHARE, rate.events * part)) };
}

/** None at all when the count is 0; half a request in an hour is one in two hours. */
function bucketOf(count: number, timeMs: number, burst: number): Bucket {
  if (count <= 0 || timeMs <= 0) return { burst: 0, perMs: 0 };
  return { burst: Math.max(1, Math.min(burst, count)), perMs: count / timeMs };
}
