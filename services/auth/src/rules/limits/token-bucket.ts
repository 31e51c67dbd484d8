/** How a bucket is: it holds `burst` tokens when full and gets `perMs` of one back every millisecond. */
export interface Bucket {
  readonly burst: number;
  readonly perMs: number;
}

/** What was in a bucket at a moment. */
export interface Level {
  readonly tokens: number;
  readonly atMs: number;
}

/** What is promised about a bucket that never refills. */
const NEVER_MS = 3_600_000;

/** What sums of fractions may lack of a whole token. */
const ROUNDING = 1e-6;

/** What is in the bucket now. One nobody knows is full; a clock that goes back refills nothing and empties nothing. */
export function levelAt(bucket: Bucket, last: Level | undefined, nowMs: number): Level {
  if (last === undefined) return { tokens: bucket.burst, atMs: nowMs };
  const elapsedMs = Math.max(0, nowMs - last.atMs);
  const tokens = Math.min(bucket.burst, last.tokens + elapsedMs * bucket.perMs);
  return { tokens, atMs: Math.max(nowMs, last.atMs) };
}

/** How many milliseconds until there is a whole token, 0 when there is one. */
export function waitMs(bucket: Bucket, tokens: number): number {
  if (tokens >= 1 - ROUNDING) return 0;
  if (bucket.burst < 1 || bucket.perMs <= 0) return NEVER_MS;
  return (1 - tokens) / bucket.perMs;
}

/** How many milliseconds a bucket needs to be full again; a full one is the same as none. */
export function refillMs(bucket: Bucket): number {
  return bucket.perMs > 0 ? bucket.burst / bucket.perMs : NEVER_MS;
}
