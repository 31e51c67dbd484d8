import * as failures from '../../failures.ts';
import type { FactorRow, FactorType, UserRow } from '../../rows.ts';
import { hasVerified } from './assurance.ts';

/** A factor somebody wants. */
export interface WantedFactor {
  type: FactorType;
  /** The empty text is none, and none is like another. */
  name: string;
  phone: string | null;
}

/** How many factors there may be, and how long one may wait for its first code. */
export interface EnrolmentLimits {
  most: number;
  mostVerified: number;
  expiryMs: number;
}

/**
 * Whether a factor can be added to those there are.
 * @returns the ids of those that make room: they were never proven, and waited too long or were for the same phone, whose owner
 *   begins anew
 * @throws Failure `insufficient_aal`: a thief with the password must not add a factor of his own; or
 *   `too_many_enrolled_mfa_factors`, `mfa_verified_factor_exists` and `mfa_factor_name_conflict`
 */
export function planEnrolment(
  factors: readonly FactorRow[],
  aal: string,
  wanted: WantedFactor,
  limits: EnrolmentLimits,
  now: Date,
): string[] {
  if (hasVerified(factors) && aal !== 'aal2') throw failures.enrolmentNeedsAal2();
  const makesRoom = (one: FactorRow) =>
    Date.parse(one.created_at) <= now.getTime() - limits.expiryMs ||
    (wanted.phone !== null && one.phone === wanted.phone);
  const gone = factors.filter((one) => !isVerified(one) && makesRoom(one));
  const staying = factors.filter((one) => !gone.includes(one));
  if (wanted.type === 'recovery_code') checkRecoveryCodes(staying);
  else checkCounts(staying, limits);
  if (wanted.phone !== null && staying.some((one) => isVerified(one) && one.phone === wanted.phone)) {
    throw failures.factorPhoneTaken();
  }
  if (wanted.name !== '' && staying.some((one) => one.friendly_name === wanted.name)) {
    throw failures.factorNameTaken(wanted.name);
  }
  return gone.map(({ id }) => id);
}

/** One set, beside something else. */
function checkRecoveryCodes(factors: readonly FactorRow[]): void {
  if (factors.some((one) => one.factor_type === 'recovery_code')) throw failures.recoveryCodesExist();
  if (!hasVerified(factors)) throw failures.recoveryCodesStandAlone();
}

/** Recovery codes are none of them: there is one set at most. */
function checkCounts(factors: readonly FactorRow[], limits: EnrolmentLimits): void {
  const counted = factors.filter((one) => one.factor_type !== 'recovery_code');
  if (counted.length >= limits.most) throw failures.tooManyFactors();
  if (counted.filter(isVerified).length >= limits.mostVerified) throw failures.tooManyVerifiedFactors();
}

/** A user once a factor was proven: the first one takes back changes that were begun without it. */
export function userAfterProof(user: UserRow, proven: { id: string; type: FactorType }, now: Date): UserRow {
  const factors = factorsAfterProof(user.factors, proven, now);
  return hasVerified(user.factors)
    ? { ...user, factors }
    : { ...user, factors, email_change: null, phone_change: null };
}

/** The factors of a user once one of them was proven: it counts, and what else was begun of its type is gone. */
export function factorsAfterProof(
  factors: readonly FactorRow[],
  proven: { id: string; type: FactorType },
  now: Date,
): FactorRow[] {
  return factors
    .filter((one) => one.id === proven.id || one.status === 'verified' || one.factor_type !== proven.type)
    .map((one) =>
      one.id === proven.id ? { ...one, status: 'verified', updated_at: now.toISOString() } : one,
    );
}

function isVerified(factor: FactorRow): boolean {
  return factor.status === 'verified';
}
