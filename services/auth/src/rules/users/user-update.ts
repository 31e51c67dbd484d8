import * as failures from '../../failures.ts';
import type { MetadataKind, UserRow } from '../../rows.ts';
import { SENT_METHODS } from '../codes/one-time-code.ts';
import { isLow } from '../factors/assurance.ts';
import { jsonbBytes } from './jsonb-bytes.ts';

/** What somebody wants to change of their own account, as far as it decides whether they may. */
export interface WantedChanges {
  email: string | undefined;
  phone: string | undefined;
  password: string | undefined;
  changesAppMetadata: boolean;
}

/**
 * Steps 2 to 5 of PUT /user (as in GoTrue). Who has a second factor and did not show it may not change
 * what the first one hangs on: a thief with the password would be the owner then.
 * @param aal how strongly the session is proven
 * @throws Failure for the first check that fails
 */
export function checkMayChange(
  user: UserRow,
  wanted: WantedChanges,
  adminRoles: readonly string[],
  aal: string,
): void {
  const { email, phone, password } = wanted;
  if (wanted.changesAppMetadata && !adminRoles.includes(user.role)) throw failures.appMetadataNeedsAdmin();
  const hasAddress = email !== undefined || phone !== undefined;
  const isNew = (email ?? user.email) !== user.email || (phone ?? user.phone) !== user.phone;
  if (wanted.changesAppMetadata && isLow(aal, user.factors)) throw failures.adminNeedsAal2();
  if (isLow(aal, user.factors) && (isNew || password !== undefined)) throw failures.changeNeedsAal2();
  if (user.is_anonymous && password !== undefined && !hasAddress) throw failures.anonymousPassword();
  if (user.is_sso_user && (isNew || password !== undefined)) throw failures.userManagedBySso();
}

/** A third more as part of an access token, which with all else it says has to fit into the header of a request. */
export const METADATA_LIMITS: Readonly<Record<MetadataKind, number>> = {
  user_metadata: 512 * 1024,
  app_metadata: 128 * 1024,
};

/**
 * Metadata is in every answer about its user and in every access token: request by request, anybody could otherwise make
 * their own too large for the service to handle. What came from elsewhere and is larger may shrink.
 * @param changes laid over the present ones; members that are null go away
 * @throws Failure `validation_failed`
 */
export function checkMetadataSize(
  present: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
  kind: MetadataKind = 'user_metadata',
): void {
  if (Object.keys(changes).length === 0) return;
  const kept = Object.entries({ ...present, ...changes }).filter(([name]) => changes[name] !== null);
  const bytes = jsonbBytes(Object.fromEntries(kept));
  if (bytes > METADATA_LIMITS[kind] && bytes > jsonbBytes(present)) throw metadataTooLarge(kind);
}

/** The refusal for metadata that would be too large. */
export function metadataTooLarge(kind: MetadataKind): Error {
  return failures.metadataTooLarge(kind, METADATA_LIMITS[kind]);
}

/** A session so old that somebody else may sit in front of it by now. */
const FRESH_MS = 24 * 3_600_000;

/** Whether a new password asks for a nonce; a token without a session says nothing about its age. */
export function needsReauthentication(startedAt: Date | undefined, now: Date): boolean {
  return startedAt === undefined || now.getTime() - startedAt.getTime() >= FRESH_MS;
}

interface AmrClaim {
  method: unknown;
  timestamp: unknown;
}

/** As long as somebody takes who chooses a new password because the present one is forgotten. */
const RECOVERING_MS = 3_600_000;

/**
 * Whether somebody was just signed in by what was sent to their address or number: that is how a forgotten password is
 * replaced, and a link that signs in proves as much as one that recovers.
 * @param amr the claim, which in tokens that others made may be anything
 */
export function isRecovering(amr: unknown, now: Date): boolean {
  const ways: readonly (Partial<AmrClaim> | null)[] = Array.isArray(amr) ? amr : [];
  return ways.some(
    (way) =>
      SENT_METHODS.some((method) => method === way?.method) &&
      now.getTime() - Number(way?.timestamp) * 1000 < RECOVERING_MS,
  );
}
