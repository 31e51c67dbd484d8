/** A stored password hash that can be checked. */
export interface StoredHash {
  /** How much work a check is, in checks of an argon2id hash of today. */
  weight: number;
  /** Whether it was made as new ones of its kind are. */
  isOfToday: boolean;
  verify(password: string): Promise<boolean>;
}

/** One way to hash passwords. */
export interface HashKind {
  /** Undefined when the text is not of this kind, or would take more work than anybody may cause. */
  read(stored: string): StoredHash | undefined;
}

/** A kind that new hashes are made in. */
export interface NewHashKind extends HashKind {
  /** How much work one is. */
  weight: number;
  hash(password: string): Promise<string>;
}

/**
 * More work than this, some four seconds, is no password check but an attack or a mistake in an import: nobody waits
 * for the answer, and everybody else would wait for the slot.
 */
export const MAX_WEIGHT = 450;
