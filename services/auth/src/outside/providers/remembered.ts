import type { Clock } from '@croft/runtime';

/** What an issuer tells of itself is believed for so long. */
const LIFE_MS = 3_600_000;
/** What lacks something is asked for again only so often: a token can name any key. */
const ASK_AGAIN_MS = 60_000;

/** Brings what was asked for; anew when it is too old, or lacks what is wanted of it. */
export type Remembered<T> = (signal: AbortSignal, hasWanted?: (value: T) => boolean) => Promise<T>;

/**
 * Keeps an answer in mind. Of several who need it at once one asks, so that a flood here is none there.
 * @param ask fails for all who wait for it; the next one asks again
 */
export function remembered<T>(clock: Clock, ask: (signal: AbortSignal) => Promise<T>): Remembered<T> {
  let known: { value: T; at: number } | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<T> | undefined;

  async function askNow(signal: AbortSignal, now: number): Promise<T> {
    askedAt = now;
    try {
      const value = await ask(signal);
      known = { value, at: now };
      return value;
    } finally {
      asking = undefined;
    }
  }

  return async (signal, hasWanted = () => true) => {
    const now = clock.now().getTime();
    if (known !== undefined && now - known.at < LIFE_MS) {
      if (hasWanted(known.value) || now - askedAt < ASK_AGAIN_MS) return known.value;
    }
    asking ??= askNow(signal, now);
    return await asking;
  };
}
