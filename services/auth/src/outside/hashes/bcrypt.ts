import { MAX_WEIGHT, type NewHashKind } from './hash-kind.ts';

/** As GoTrue makes them. */
const COST = 10;
/** A check at cost 10 takes five times as long as one of argon2id; each further step doubles it. */
const weightOf = (cost: number): number => 5 * 2 ** (cost - COST);

/** bcrypt, for tables that come from GoTrue or are shared with it. Looks at the first 72 bytes of a password only. */
export const bcrypt: NewHashKind = {
  weight: weightOf(COST),
  hash: async (password) => (await library()).hash(password, COST),
  read(stored) {
    const [, cost, rest] = /^\$2[aby]\$([0-3]\d)\$([./A-Za-z0-9]{53})$/.exec(stored) ?? [];
    if (cost === undefined || rest === undefined) return undefined;
    const weight = weightOf(Number(cost));
    if (weight > MAX_WEIGHT) return undefined;
    return {
      weight,
      isOfToday: Number(cost) === COST,
      // One algorithm under three names: `a` and `y` of every maker who matters are what OpenBSD calls `b`, while
      // the library lets `a` go wrong as it did in 2013 and does not know `y`.
      verify: async (password) => (await library()).compare(password, `$2b$${cost}$${rest}`),
    };
  },
};

/** Loaded when it is needed first: most deployments never do. */
async function library() {
  return (await import('bcrypt')).default;
}
