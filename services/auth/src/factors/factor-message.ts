import { randomInt } from 'node:crypto';
import type { AuthContext } from '../context.ts';
import { smsPayload } from '../effects/sms.ts';
import { testCodeFor } from '../phone/prepare-phone-code.ts';
import type { UserRow } from '../rows.ts';
import type { SmsChannel } from '../rules/addresses/phone-number.ts';
import { codeDigits } from '../rules/codes/one-time-code.ts';
import type { NewChallenge } from '../store/factor-proofs.ts';
import type { AnsweredFactor } from '../store/factors.ts';
import type { SendLimit } from '../store/send-limits.ts';

/** The code of a challenge, and the message that brings it. */
export type FactorMessage = Pick<NewChallenge, 'otpCode' | 'effect' | 'limits'>;

/**
 * A new code for a factor. A tester's is the one of the settings and sends nothing; where the provider makes the codes, none
 * of ours is kept. There are limits for the user, whatever numbers he claims, and for the number, whoever claims it: but
 * nobody who only claims it may keep codes from the one who has proven it, whose factor has a limit of its own.
 */
export function prepareFactorMessage(
  context: AuthContext,
  wanted: {
    user: UserRow;
    factor: Pick<AnsweredFactor, 'id' | 'status'>;
    phone: string;
    channel: SmsChannel;
    challenge: { id: string; expiresAt: Date };
  },
): FactorMessage {
  const { settings, atRest, clock } = context;
  const { user, factor, phone, channel, challenge } = wanted;
  const testCode = testCodeFor(context, phone, clock.now());
  if (testCode !== undefined) {
    return { otpCode: factorCodeHash(context, challenge.id, testCode), effect: undefined, limits: [] };
  }
  const code = digits(codeDigits(settings.MFA_PHONE_OTP_LENGTH));
  const owned = factor.status === 'verified' ? factor.id : phone;
  const message = { phone, channel, code, expiresAt: challenge.expiresAt, userId: user.id };
  return {
    otpCode: context.outside.verifySms === undefined ? factorCodeHash(context, challenge.id, code) : null,
    effect: { topic: 'sms', payload: smsPayload(atRest, message) },
    limits: [`factor ${owned}`, `factor of ${user.id}`].flatMap((name) => limitOf(context, name)),
  };
}

/** How the code of a challenge is kept: the same digits for another one are another code. */
export function factorCodeHash(context: AuthContext, challengeId: string, code: string): string {
  return context.atRest.hashCode(`factor ${challengeId} ${code}`);
}

function limitOf({ settings, atRest, clock }: AuthContext, name: string): SendLimit[] {
  const intervalMs = settings.MFA_PHONE_MAX_FREQUENCY;
  if (intervalMs === 0) return [];
  return [{ key: atRest.stableId(`send ${name}`), notAfter: new Date(clock.now().getTime() - intervalMs) }];
}

function digits(count: number): string {
  return randomInt(10 ** count)
    .toString()
    .padStart(count, '0');
}
