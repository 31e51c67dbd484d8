import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { isChangeOpen } from '../rules/addresses/pending-change.ts';
import { checkPhoneNumber } from '../rules/addresses/phone-number.ts';
import { auditEntry, BY_PHONE } from '../rules/audit.ts';
import * as phoneCodes from '../store/phone-codes.ts';
import { type PhoneCode, sendPhoneCode } from './send-phone-code.ts';

/** Somebody who waits for an SMS that did not come. */
export interface SmsResendRequest {
  type: 'sms' | 'phone_change';
  /** The present number of the account, for a change as well. */
  phone: string;
  origin: Origin;
}

/**
 * Sends the code of a sign-up or a change of number once more (POST /resend with `phone`). Unknown numbers and those
 * that wait for nothing get the same answer, limit and number of statements. Two round trips.
 * @returns the name of the message
 * @throws Failure `validation_failed` for what is no number, `over_sms_send_rate_limit` within the interval
 */
export async function resendSms(context: AuthContext, request: SmsResendRequest): Promise<string> {
  const phone = checkPhoneNumber(request.phone);
  const waiting = await phoneCodes.findWaiting(context.database.autocommit(), phone);
  const code = request.type === 'sms' ? confirmation(phone, waiting) : change(context, phone, waiting);
  const { messageId } = await sendPhoneCode(context, { ...code, channel: 'sms', origin: request.origin });
  return messageId;
}

type Resent = Omit<PhoneCode, 'channel' | 'origin'>;

function confirmation(phone: string, waiting: phoneCodes.Waiting | undefined): Resent {
  const user = waiting?.user;
  const isWaiting = user !== undefined && user.phone_confirmed_at === null;
  return {
    userId: isWaiting ? user.id : undefined,
    // The same kind as before: the password of a sign-up counts with its own code only.
    purpose: waiting?.lastType === 'phone_token' ? 'sms' : 'signup',
    phone,
    audit: isWaiting ? [auditEntry(user, 'user_confirmation_requested', BY_PHONE)] : [],
  };
}

function change(context: AuthContext, phone: string, waiting: phoneCodes.Waiting | undefined): Resent {
  const { SMS_OTP_EXP, SMS_MAX_FREQUENCY } = context.settings;
  const wanted = waiting?.user.phone_change ?? '';
  // With the interval: else a code could never be sent again where it lives no longer than that.
  const life = SMS_OTP_EXP + SMS_MAX_FREQUENCY;
  const isOpen =
    wanted !== '' && isChangeOpen(waiting?.user.phone_change_begun_at ?? null, life, context.clock.now());
  return {
    userId: isOpen ? waiting?.user.id : undefined,
    purpose: 'phone_change',
    phone: isOpen ? wanted : phone,
    // By what was asked for: a limit by the wanted number would answer differently where there is one.
    limitedBy: phone,
    audit: [],
  };
}
