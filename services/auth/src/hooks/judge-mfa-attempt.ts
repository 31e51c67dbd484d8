import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { UserRow } from '../rows.ts';
import { auditEntry } from '../rules/audit.ts';
import { verdictIn } from '../rules/hooks/verdict.ts';
import * as sessions from '../store/sessions.ts';

/** An attempt to verify a factor, after it was checked and before anything comes of it. */
export interface MfaAttempt {
  user: UserRow;
  factorId: string;
  /** `totp` or `phone`. */
  factorType: string;
  /** Whether the code was right. */
  valid: boolean;
  origin: Origin;
}

/**
 * Asks the hook `mfa_verification_attempt` about an attempt, right or wrong; nothing when it is off. An attempt that it
 * rejects signs the user out everywhere.
 * @throws Failure `mfa_verification_rejected`, or why the hook gave no answer: then nothing may come of the attempt
 */
export async function judgeMfaAttempt(context: AuthContext, attempt: MfaAttempt): Promise<void> {
  const hook = context.outside.hooks.mfa_verification_attempt;
  if (hook === undefined) return;
  const { user, factorId, factorType, valid, origin } = attempt;
  const answer = await hook(
    { user_id: user.id, factor_id: factorId, factor_type: factorType, valid },
    { ip: origin.ip },
  );
  const verdict = verdictIn(answer, 'Further MFA verification attempts will be rejected.');
  if (verdict === undefined) return;
  const trace = { ...origin, audit: [auditEntry(user, 'logout')] };
  await sessions.end(context.database.autocommit(), { userId: user.id }, trace);
  throw failures.mfaAttemptRejected(verdict.message);
}
