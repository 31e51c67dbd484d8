import { isBanned } from '../users/ban.ts';

/** The family of a presented token as it was the moment before, and whose it is. */
export interface FamilyState {
  /** Hash of the one token that can be rotated. */
  activeHash: Buffer;
  /** Hash of the token before it. */
  parentHash: Buffer | null;
  revokedAt: Date | null;
  bannedUntilMs: number | null;
  /** End of the session, if it has one. */
  notAfter: Date | null;
}

/** What the operator decided about refresh tokens. */
export interface RotationPolicy {
  rotationEnabled: boolean;
}

/** What becomes of a refresh request. */
export type Rotation =
  | 'rotate' // the presented token is the active one: its child replaces it
  | 'repeat' // it is the parent of the active one: the child is shown again
  | 'reuse' // it is older: whoever presents it is a thief or was robbed, the family ends
  | 'refuse' // it is outdated, but the operator wants no family to end for it
  | 'banned'
  | 'expired';

/**
 * Rotation and reuse detection (rules 1 and 2 of the contract, C19 of the reference notes). The parent of the active
 * token gets the active token however late: a client that never received the answer has nothing else, and ending its
 * family would sign out a person whose network failed. The reuse interval has nothing to add to that, because
 * tokens older than the parent are reuse at any time.
 */
export function decideRotation(
  presentedHash: Buffer,
  family: FamilyState,
  policy: RotationPolicy,
  now: Date,
): Rotation {
  if (isBanned(family.bannedUntilMs, now)) return 'banned';
  if (family.notAfter !== null && family.notAfter <= now) return 'expired';
  if (family.revokedAt !== null) return 'refuse';
  if (presentedHash.equals(family.activeHash)) return 'rotate';
  if (family.parentHash !== null && presentedHash.equals(family.parentHash)) return 'repeat';
  return policy.rotationEnabled ? 'reuse' : 'refuse';
}
