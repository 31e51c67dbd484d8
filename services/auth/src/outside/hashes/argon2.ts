import { hash, type Options, parseOptions, verify } from '@node-rs/argon2';
import { MAX_WEIGHT, type NewHashKind } from './hash-kind.ts';

/** One of the five settings that OWASP calls equally strong; why this one is in docs/decisions/0013. */
const COSTS = { memoryCost: 7_168, timeCost: 5, parallelism: 1 } satisfies Options;
/** A check holds this much memory for as long as it runs, in KiB. */
const MAX_MEMORY_KIB = 1_048_576;
const ARGON2ID = 2;

/** argon2id for new hashes; argon2i and argon2d, which imports bring, are checked as well (RFC 9106). */
export const argon2: NewHashKind = {
  weight: 1,
  // The library's default algorithm is argon2id.
  hash: (password) => hash(password, COSTS),
  read(stored) {
    const costs = parse(stored);
    if (costs === undefined) return undefined;
    const { memoryCost, timeCost, parallelism } = costs;
    const weight = Math.max(1, (memoryCost * timeCost) / (COSTS.memoryCost * COSTS.timeCost));
    if (weight > MAX_WEIGHT || memoryCost > MAX_MEMORY_KIB) return undefined;
    return {
      weight,
      isOfToday:
        costs.algorithm === ARGON2ID &&
        memoryCost === COSTS.memoryCost &&
        timeCost === COSTS.timeCost &&
        parallelism === COSTS.parallelism,
      verify: (password) => verify(stored, password),
    };
  },
};

/** undefined for what is no argon2 hash; the library would throw. */
function parse(stored: string): ReturnType<typeof parseOptions> | undefined {
  if (!stored.startsWith('$argon2')) return undefined;
  try {
    return parseOptions(stored);
  } catch {
    return undefined;
  }
}
