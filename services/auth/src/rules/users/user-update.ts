import * as failures from '../../failures.ts';
import type { UserRow } from '../../rows.ts';

/** What somebody wants to change of their own account, as far as it decides whether they may. */
export interface WantedChanges {
  email: string | undefined;
  phone: string | undefined;
  password: string | undefined;
  changesAppMetadata: boolean;
}

/**
 * Steps 2 to 5 of PUT /user (§3.20 of the reference notes).
 * @throws Failure for the first check that fails
 */
export function checkMayChange(user: UserRow, wanted: WantedChanges, adminRoles: readonly string[]): void {
  const { email, phone, password } = wanted;
  if (wanted.changesAppMetadata && !adminRoles.includes(user.role)) throw failures.appMetadataNeedsAdmin();
  const hasAddress = email !== undefined || phone !== undefined;
  if (user.is_anonymous && password !== undefined && !hasAddress) throw failures.anonymousPassword();
  const isNew = (email ?? user.email) !== user.email || (phone ?? user.phone) !== user.phone;
  if (user.is_sso_user && (isNew || password !== undefined)) throw failures.userManagedBySso();
}

/** A session so old that somebody else may sit in front of it by now. */
const FRESH_MS = 24 * 3_600_000;

/** Whether a new password asks for a nonce; a token without a session says nothing about its age. */
export function needsReauthentication(startedAt: Date | undefined, now: Date): boolean {
  return startedAt === undefined || now.getTime() - startedAt.getTime() >= FRESH_MS;
}
