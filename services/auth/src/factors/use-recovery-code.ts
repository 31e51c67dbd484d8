import { authenticateWith } from '../caller/authenticate-caller.ts';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { judgeMfaAttempt } from '../hooks/judge-mfa-attempt.ts';
import { normalizeRecoveryCode } from '../rules/factors/recovery-codes.ts';
import type { IssuedSession } from '../sessions/issue-tokens.ts';
import * as auditLog from '../store/audit-log.ts';
import * as recoveryCodes from '../store/recovery-codes.ts';
import { factorEntry } from './factor-entry.ts';
import { ownerOf } from './factor-owner.ts';
import { recoveryCodeHash } from './make-recovery-codes.ts';
import { raiseSession } from './raise-session.ts';

/**
 * How many recovery codes the caller has left (GET /factors/recovery-codes). One round trip.
 * @throws Failure `mfa_factor_not_found` when there never were any
 */
export async function countRecoveryCodes(
  context: AuthContext,
  authorization: string | undefined,
): Promise<recoveryCodes.RecoveryCodeCount> {
  const { found, caller } = await authenticateWith(context, authorization, (tx, userId, sessionId) =>
    recoveryCodes.findByAccessToken(tx, { userId, sessionId }, null),
  );
  ownerOf(caller);
  if (found.set === null) throw failures.factorNotFound();
  return found.set;
}

/**
 * Uses up a recovery code in place of another factor, and raises the session (POST /factors/recovery-codes/verify). Of
 * several requests with the same code one succeeds. Two round trips, right or wrong.
 * @throws Failure `mfa_verification_failed` for a code that is wrong or was used, also where there are none
 */
export async function useRecoveryCode(
  context: AuthContext,
  authorization: string | undefined,
  answer: { code: string; origin: Origin },
): Promise<IssuedSession> {
  const { origin } = answer;
  const code = normalizeRecoveryCode(answer.code);
  if (code === '') throw failures.factorCodeMissing();
  const { found, caller } = await authenticateWith(context, authorization, (tx, userId, sessionId) =>
    recoveryCodes.findByAccessToken(tx, { userId, sessionId }, recoveryCodeHash(context, userId, code)),
  );
  const owner = ownerOf(caller);
  if (!context.settings.MFA_RECOVERY_CODES_ENABLED) throw failures.recoveryVerificationOff();
  const { set, isUnused } = found;
  if (set === null) throw failures.recoveryCodeInvalid();
  const { user } = owner.person;
  const type = 'recovery_code';
  if (!isUnused) {
    const audit = [factorEntry(user, 'verification_attempted', set.id, { factor_type: type, valid: false })];
    await auditLog.insert(context.database.autocommit(), { ...origin, audit });
  }
  await judgeMfaAttempt(context, { user, factorId: set.id, factorType: type, valid: isUnused, origin });
  if (!isUnused) throw failures.recoveryCodeInvalid();
  const issued = await raiseSession(context, owner, {
    factor: { id: set.id, type },
    challengeId: null,
    recoveryCode: recoveryCodeHash(context, user.id, code),
    step: null,
    wasCounted: false,
    origin,
  });
  if (issued === undefined) throw failures.recoveryCodeInvalid();
  return issued;
}
