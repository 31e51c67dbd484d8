import type { FactorRow, FactorType } from '../../rows.ts';

/** Values of `amr.method` that mean a second factor (as in GoTrue). */
export const METHOD_OF = {
  totp: 'totp',
  phone: 'mfa/phone',
  webauthn: 'mfa/webauthn',
  recovery_code: 'mfa/recovery_code',
} as const satisfies Readonly<Record<FactorType, string>>;

/** All of them. */
export const FACTOR_METHODS: readonly string[] = Object.values(METHOD_OF);

/** Whether somebody has a factor that was proven, so that there is more to prove than a password. */
export function hasVerified(factors: readonly FactorRow[]): boolean {
  return factors.some(({ status }) => status === 'verified');
}

const LEVELS = ['aal1', 'aal2', 'aal3'];

/**
 * What a token is worth: no more than what was shown when it was issued, and no more than what its session shows now. A
 * claim that is missing or no level is the lowest one.
 */
export function lowerAal(claimed: string | undefined, shown: string): string {
  const places = [claimed ?? '', shown].map((level) => LEVELS.indexOf(level));
  return LEVELS[Math.min(...places)] ?? 'aal1';
}

/** Whether a session has shown less than its user could. */
export function isLow(aal: string, factors: readonly FactorRow[]): boolean {
  return aal === 'aal1' && hasVerified(factors);
}

/**
 * Seconds an access token is valid: no longer than its session may stay low (`SESSIONS_ALLOW_LOW_AAL`).
 * @param lowMs 0 is for ever
 */
export function tokenSeconds(
  configured: number,
  session: { isLow: boolean; begunAt: Date; lowMs: number },
  now: Date,
): number {
  if (!session.isLow || session.lowMs === 0) return configured;
  const left = Math.floor((session.begunAt.getTime() + session.lowMs - now.getTime()) / 1000);
  return Math.max(1, Math.min(configured, left));
}
