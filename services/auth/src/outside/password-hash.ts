import { availableParallelism } from 'node:os';
import { assertOutsideTransaction, randomToken } from '@croft/runtime';
import { hash, type Options, parseOptions, verify } from '@node-rs/argon2';
import { tooManyPasswords } from '../failures.ts';
import { createSlots, type Slots } from './slots.ts';

/** Makes and checks password hashes, never more at once than there are cores. */
export interface PasswordHasher {
  /** @throws Failure `over_capacity` when the queue is too long */
  hash(password: string): Promise<string>;
  /**
   * Whether the password belongs to the hash. Without a hash (no such user, no password set) a stand-in is checked,
   * so that the answer takes as long.
   * @throws Failure `over_capacity` when the queue is too long
   */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** Whether the stored hash was made with other costs than today's. */
  isOutdated(stored: string): boolean;
}

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane. The library's default algorithm is argon2id. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } satisfies Options;
/** Above this wait people press the button again, which only makes it longer. */
const MAX_WAIT_MS = 2_000;

/** Hashes on the thread pool; queueing here keeps its threads free for files and names in between. */
export function passwordHasher(
  slots: Slots = createSlots(availableParallelism(), MAX_WAIT_MS),
): PasswordHasher {
  // Made ahead of the first request, which would otherwise take twice as long and tell.
  const standIn = hash(randomToken(16), COSTS);
  return {
    async hash(password) {
      assertOutsideTransaction('a password hash');
      return await slots.run(() => hash(password, COSTS), overCapacity);
    },
    async verify(password, stored) {
      assertOutsideTransaction('a password check');
      const against = stored ?? (await standIn);
      // A stored text that is no argon2 hash matches nothing.
      const matches = await slots.run(() => verify(against, password).catch(() => false), overCapacity);
      return matches && stored !== null;
    },
    isOutdated(stored) {
      const { memoryCost, timeCost, parallelism } = parseOptions(stored);
      return (
        memoryCost !== COSTS.memoryCost || timeCost !== COSTS.timeCost || parallelism !== COSTS.parallelism
      );
    },
  };
}

function overCapacity(waitMs: number): Error {
  return tooManyPasswords(Math.ceil(waitMs / 1000));
}
