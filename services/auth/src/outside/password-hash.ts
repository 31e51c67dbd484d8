import { availableParallelism } from 'node:os';
import { assertOutsideTransaction, randomToken } from '@croft/runtime';
import { tooManyPasswords } from '../failures.ts';
import { argon2 } from './hashes/argon2.ts';
import { bcrypt } from './hashes/bcrypt.ts';
import { fbscrypt } from './hashes/fbscrypt.ts';
import type { NewHashKind, StoredHash } from './hashes/hash-kind.ts';
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
  /**
   * Whether a new hash should replace the stored one, which the password matched: because new ones are of another
   * kind or other costs.
   */
  isOutdated(stored: string, password: string): boolean;
}

/** Kinds that new hashes are made in. */
const NEW_KINDS = { argon2id: argon2, bcrypt } satisfies Record<string, NewHashKind>;
/** Kinds that are checked. */
const KINDS = [argon2, bcrypt, fbscrypt];
/** Above this wait people press the button again, which only makes it longer. */
const MAX_WAIT_MS = 2_000;
/** bcrypt looks at no more of a password. */
const BCRYPT_BYTES = 72;

/**
 * Hashes on the thread pool; queueing here keeps its threads free for files and names in between.
 * @param newKind what `PASSWORD_HASH` says
 */
export function passwordHasher(
  newKind: keyof typeof NEW_KINDS = 'argon2id',
  slots: Slots = createSlots(availableParallelism(), MAX_WAIT_MS),
): PasswordHasher {
  const kind = NEW_KINDS[newKind];
  // Made ahead of the first request, which would otherwise take twice as long and tell.
  const standIn = kind.hash(randomToken(16)).then((text) => readOrThrow(kind, text));
  return {
    async hash(password) {
      assertOutsideTransaction('a password hash');
      return await slots.run(() => kind.hash(password), overCapacity, kind.weight);
    },
    async verify(password, stored) {
      assertOutsideTransaction('a password check');
      const known = stored === null ? undefined : read(stored);
      const against = known ?? (await standIn);
      // A stored text that is no hash after all matches nothing.
      const check = (): Promise<boolean> => against.verify(password).catch(() => false);
      const matches = await slots.run(check, overCapacity, against.weight);
      return matches && known !== undefined;
    },
    isOutdated(stored, password) {
      // A longer one matched by its beginning: a hash of all of it might lock its owner out.
      if (Buffer.byteLength(password) > BCRYPT_BYTES) return false;
      return kind.read(stored)?.isOfToday !== true;
    },
  };
}

function read(stored: string): StoredHash | undefined {
  for (const kind of KINDS) {
    const hash = kind.read(stored);
    if (hash !== undefined) return hash;
  }
  return undefined;
}

function readOrThrow(kind: NewHashKind, text: string): StoredHash {
  const hash = kind.read(text);
  if (hash === undefined) throw new Error('a hash that was just made cannot be read');
  return hash;
}

function overCapacity(waitMs: number): Error {
  return tooManyPasswords(Math.ceil(waitMs / 1000));
}
