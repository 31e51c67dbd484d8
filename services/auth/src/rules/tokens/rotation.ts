import { isBanned } from '../users/ban.ts';

/** The family of a presented token as it was the moment before, and whose it is. */
export interface FamilyState {
  /** Hash of the one token that can be rotated. */
  activeHash: Buffer;
  /** Hash of the token before it. */
  parentHash: Buffer | null;
  /** When a proof of a second factor took the place of the presented token; null when none did. */
  replacedAt: Date | null;
  revokedAt: Date | null;
  bannedUntilMs: number | null;
  /** End of the session, if it has one. */
  notAfter: Date | null;
  /** When the session began. */
  createdAt: Date;
  /** When it began or was refreshed last. */
  refreshedAt: Date;
  /** Whether another session of the user began or was refreshed since. */
  hasNewer: boolean;
  /** Whether the user has a second factor that the session did not show. */
  isLow: boolean;
}

/** What the operator decided about refresh tokens. */
export interface RotationPolicy extends SessionLimits {
  rotationEnabled: boolean;
}

/** How long sessions live; zero is for ever. */
export interface SessionLimits {
  timeboxMs: number;
  inactivityMs: number;
  /** Only the session of a user that was used last goes on. */
  singlePerUser: boolean;
  /** For sessions that did not show the second factor their user has. */
  lowAalMs: number;
}

/** What the limits come to at a moment: sessions that began or were used at these times or before are over. */
export function sessionBounds(
  limits: SessionLimits,
  now: Date,
): { begun: Date | null; used: Date | null; lowBegun: Date | null } {
  const ago = (ms: number) => (ms === 0 ? null : new Date(now.getTime() - ms));
  return { begun: ago(limits.timeboxMs), used: ago(limits.inactivityMs), lowBegun: ago(limits.lowAalMs) };
}

/** What becomes of a refresh request. */
export type Rotation =
  | 'rotate' // the presented token is the active one: its child replaces it
  | 'repeat' // it is the parent of the active one: the child is shown again
  | 'reuse' // it is older: whoever presents it is a thief or was robbed, the family ends
  | 'refuse' // it is outdated, but no family ends for it: the operator wants none to, or a proof just replaced it
  | 'banned'
  | 'expired'
  | 'inactive' // not used for too long
  | 'low' // the user has a second factor, and did not show it for too long
  | 'superseded'; // the user signed in elsewhere, and may be in one place only

/** As long as a refresh that was sent before its client heard of a proof, by itself or from another tab, may take. */
const LATE_MS = 30_000;

/**
 * Rotation and reuse detection (rules 1 and 2 of the contract). The parent of the active
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
  const { begun, used, lowBegun } = sessionBounds(policy, now);
  if (begun !== null && family.createdAt <= begun) return 'expired';
  if (used !== null && family.refreshedAt <= used) return 'inactive';
  if (lowBegun !== null && family.isLow && family.createdAt <= lowBegun) return 'low';
  if (policy.singlePerUser && family.hasNewer) return 'superseded';
  if (family.revokedAt !== null) return 'refuse';
  if (presentedHash.equals(family.activeHash)) return 'rotate';
  if (family.parentHash !== null && presentedHash.equals(family.parentHash)) return 'repeat';
  if (family.replacedAt !== null && now.getTime() - family.replacedAt.getTime() < LATE_MS) return 'refuse';
  return policy.rotationEnabled ? 'reuse' : 'refuse';
}
