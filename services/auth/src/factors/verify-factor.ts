import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant } from '../rows.ts';
import { hasVerified } from '../rules/factors/assurance.ts';
import { lockedSeconds } from '../rules/factors/wrong-codes.ts';
import type { IssuedSession } from '../sessions/issue-tokens.ts';
import type { AnsweredFactor } from '../store/factors.ts';
import { checkEnabled } from './challenge-factor.ts';
import { authenticateOwner, type FactorOwner } from './factor-owner.ts';
import { judgeCode } from './judge-code.ts';
import { raiseSession } from './raise-session.ts';

/** The answer to a challenge. */
export interface FactorAnswer {
  factorId: string;
  challengeId: string;
  code: string;
  origin: Origin;
}

/**
 * Proves a factor, and raises the session by it (POST /factors/:factor_id/verify). Of several requests with the same
 * code one succeeds. Two round trips, right or wrong; three where somebody else knows the codes.
 * @throws Failure for the first check that fails (as in GoTrue); `over_request_rate_limit` after too
 *   many wrong codes, whether or not this one is right
 */
export async function verifyFactor(
  context: AuthContext,
  authorization: string | undefined,
  answer: FactorAnswer,
): Promise<IssuedSession> {
  const { challengeId, origin } = answer;
  const code = answer.code.replaceAll(' ', '');
  if (code === '') throw failures.factorCodeMissing();
  const { owner, factor } = await authenticateOwner(context, authorization, { ...answer, ip: origin.ip });
  if (factor === null) throw failures.factorNotFound();
  checkChallenge(context, factor, challengeId);
  checkAttempt(context, owner, factor);
  const verdict = await judgeCode(context, owner, factor, { code, challengeId, origin });
  const right = { ...verdict, factor, challengeId, recoveryCode: null, origin };
  const issued = await raiseSession(context, owner, right);
  if (issued === undefined) throw invalid(factor);
  return issued;
}

function checkChallenge(context: AuthContext, { challenge }: AnsweredFactor, id: string): void {
  if (challenge === null) throw failures.challengeNotFound();
  if (!challenge.isFromHere) throw failures.challengeFromElsewhere();
  if (Date.parse(challenge.expiresAt) <= context.clock.now().getTime()) throw failures.challengeExpired(id);
}

function checkAttempt(context: AuthContext, owner: FactorOwner, factor: AnsweredFactor): void {
  const { settings, clock } = context;
  const { user } = owner.person;
  checkEnabled(factor.type, settings);
  const seconds = lockedSeconds(clock.now(), instant(user.mfa_locked_until), instant(factor.lockedUntil));
  if (seconds > 0) throw failures.tooManyWrongCodes(seconds);
  if (factor.status === 'verified') return;
  // Somebody proved another one since this one was begun, in a session that ended all lower ones but could miss one
  // that is opened now: who has only the password must not add a factor of his own.
  if (hasVerified(user.factors) && owner.aal !== 'aal2') throw failures.enrolmentNeedsAal2();
  const verified = user.factors.filter((one) => one.status === 'verified');
  if (verified.length >= settings.MFA_MAX_VERIFIED_FACTORS) throw failures.tooManyVerifiedFactors();
}

function invalid(factor: AnsweredFactor): Error {
  return factor.type === 'phone' ? failures.phoneCodeInvalid() : failures.totpCodeInvalid();
}
