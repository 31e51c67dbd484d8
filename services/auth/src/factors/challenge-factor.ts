import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { FactorType } from '../rows.ts';
import { checkChannel } from '../rules/addresses/phone-number.ts';
import type { AuthSettings } from '../settings.ts';
import * as factorProofs from '../store/factor-proofs.ts';
import { factorEntry } from './factor-entry.ts';
import { type FactorMessage, prepareFactorMessage } from './factor-message.ts';
import { authenticateOwner } from './factor-owner.ts';

/** Which factor is to be proven; `channel` is how a message travels, empty for the usual one. */
export interface ChallengeRequest {
  factorId: string;
  channel: string;
  origin: Origin;
}

/** A question whose answer raises the session. */
export interface Challenge {
  id: string;
  type: FactorType;
  expiresAt: Date;
}

/** @throws Failure where codes of the type are not accepted */
export function checkEnabled(type: FactorType, settings: AuthSettings): void {
  if (type === 'totp' && !settings.MFA_TOTP_VERIFY_ENABLED) throw failures.totpVerificationOff();
  if (type === 'phone' && !settings.MFA_PHONE_VERIFY_ENABLED) throw failures.phoneVerificationOff();
  if (type === 'webauthn') throw failures.webauthnVerificationOff();
}

/** What is sent for factors without messages. */
const NO_MESSAGE: FactorMessage = { otpCode: null, effect: undefined, limits: [] };

/**
 * Asks the owner of a factor to prove it, by a message where that takes one (POST /factors/:factor_id/challenge). Two
 * round trips.
 * @throws Failure `mfa_factor_not_found`, or `over_sms_send_rate_limit`
 */
export async function challengeFactor(
  context: AuthContext,
  authorization: string | undefined,
  request: ChallengeRequest,
): Promise<Challenge> {
  const { settings, database } = context;
  const { factorId, origin } = request;
  const { owner, factor } = await authenticateOwner(context, authorization, { factorId });
  if (factor === null) throw failures.factorNotFound();
  if (factor.type === 'recovery_code') throw failures.recoveryCodesElsewhere();
  checkEnabled(factor.type, settings);

  const tx = database.autocommit();
  const { user } = owner.person;
  const challenge = {
    id: randomUUID(),
    type: factor.type,
    expiresAt: new Date(tx.now.getTime() + settings.MFA_CHALLENGE_EXPIRY_DURATION),
  };
  const channel = checkChannel(request.channel, settings.SMS_PROVIDER);
  const message =
    factor.phone === null
      ? NO_MESSAGE
      : prepareFactorMessage(context, { user, factor, phone: factor.phone, channel, challenge });
  const traits = { factor_status: factor.status, challenge_id: challenge.id };
  const audit = [factorEntry(user, 'challenge_created', factor.id, traits)];
  const ask = () =>
    factorProofs.challenge(tx, {
      ...challenge,
      userId: user.id,
      sessionId: owner.sessionId,
      factorId: factor.id,
      ...message,
      trace: { ...origin, audit },
    });
  const asked = message.effect === undefined ? await ask() : await withinHourlyLimit(context, 'sms', ask);
  if (!asked.allowed) {
    const limit = message.limits[asked.refusedBy ?? 0];
    throw sentTooRecently(limit, { ...asked, person: undefined }, tx.now, true);
  }
  if (!asked.made) throw failures.factorNotFound();
  return challenge;
}
