import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { judgeMfaAttempt } from '../hooks/judge-mfa-attempt.ts';
import { testCodeFor } from '../phone/prepare-phone-code.ts';
import { fromBase32 } from '../rules/factors/base32.ts';
import { stepOf } from '../rules/factors/totp.ts';
import { FACTOR_WAITS_MS, FORGET_ONE_MS, USER_WAITS_MS } from '../rules/factors/wrong-codes.ts';
import * as factorProofs from '../store/factor-proofs.ts';
import type { AnsweredFactor } from '../store/factors.ts';
import { factorEntry } from './factor-entry.ts';
import { factorCodeHash } from './factor-message.ts';
import type { FactorOwner } from './factor-owner.ts';

/** What was typed, and as the answer to which challenge. */
export interface TypedFactorCode {
  code: string;
  challengeId: string;
  origin: Origin;
}

/** A right code: of which step, and whether it had to be counted as a wrong one first. */
export interface RightCode {
  step: number | null;
  wasCounted: boolean;
}

const WRONG_CODES = {
  factorWaitsMs: FACTOR_WAITS_MS,
  userWaitsMs: USER_WAITS_MS,
  forgetOneMs: FORGET_ONE_MS,
};

/**
 * Says whether a code is right, and asks the hook about the attempt. A wrong one is counted before anybody learns that
 * it is wrong. No round trip for a right code, one for a wrong one.
 * @throws Failure `mfa_verification_failed`; `over_request_rate_limit` when no code is looked at any more
 */
export async function judgeCode(
  context: AuthContext,
  owner: FactorOwner,
  factor: AnsweredFactor,
  typed: TypedFactorCode,
): Promise<RightCode> {
  const { right, wasCounted } = await compare(context, owner, factor, typed);
  if (right === undefined && !wasCounted) await countWrong(context, owner, factor, typed);
  await judgeMfaAttempt(context, {
    user: owner.person.user,
    factorId: factor.id,
    factorType: factor.type,
    valid: right !== undefined,
    origin: typed.origin,
  });
  if (right !== undefined) return { ...right, wasCounted };
  throw factor.type === 'phone' ? failures.phoneCodeInvalid() : failures.totpCodeInvalid();
}

interface Compared {
  right: { step: number | null } | undefined;
  wasCounted: boolean;
}

async function compare(
  context: AuthContext,
  owner: FactorOwner,
  factor: AnsweredFactor,
  typed: TypedFactorCode,
): Promise<Compared> {
  const { phone, secret } = factor;
  if (phone === null) return { right: compareTotp(context, factor, secret, typed), wasCounted: false };
  const { verifySms } = context.outside;
  if (verifySms === undefined || testCodeFor(context, phone, context.clock.now()) !== undefined) {
    const hash = factorCodeHash(context, typed.challengeId, typed.code);
    const isRight = hash === factor.challenge?.otpCode;
    return { right: isRight ? { step: null } : undefined, wasCounted: false };
  }
  // Somebody else says it, in his time: of many guesses at the same moment none may be free.
  await countWrong(context, owner, factor, typed);
  const isRight = await verifySms(phone, typed.code);
  return { right: isRight ? { step: null } : undefined, wasCounted: true };
}

/** A code that was accepted once is as wrong as any other, and so are those before it. */
function compareTotp(
  { atRest, clock }: AuthContext,
  { lastUsedStep }: AnsweredFactor,
  sealed: string | null,
  { code }: TypedFactorCode,
): Compared['right'] {
  if (sealed === null) return undefined;
  const step = stepOf(fromBase32(atRest.open(sealed)), code, clock.now());
  return step === undefined || (lastUsedStep !== null && step <= lastUsedStep) ? undefined : { step };
}

async function countWrong(
  context: AuthContext,
  { person: { user } }: FactorOwner,
  factor: AnsweredFactor,
  { challengeId, origin }: TypedFactorCode,
): Promise<void> {
  const traits = { factor_type: factor.type, challenge_id: challengeId, valid: false };
  const audit = [factorEntry(user, 'verification_attempted', factor.id, traits)];
  const counted = await factorProofs.countWrongCode(
    context.database.autocommit(),
    { userId: user.id, factorId: factor.id },
    WRONG_CODES,
    { ...origin, audit },
  );
  // Too many came at the same moment.
  if (!counted) throw failures.tooManyWrongCodes(LOCKED_SECONDS);
}

/** What is promised where the end of the wait was not looked up. */
const LOCKED_SECONDS = 30;
