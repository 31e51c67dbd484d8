import type { Origin } from '../caller/origin.ts';
import { sendCodes } from '../codes/send-codes.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import type { SmsChannel } from '../rules/addresses/phone-number.ts';
import { auditEntry } from '../rules/audit.ts';
import type { SentAtColumn } from '../store/one-time-tokens.ts';
import { type PhonePurpose, preparePhoneCode } from './prepare-phone-code.ts';

/** A code to be sent to a phone. */
export interface PhoneCode {
  /** Undefined for a number nobody has: the limit counts as for all others, and nothing is sent. */
  userId: string | undefined;
  purpose: PhonePurpose;
  phone: string;
  channel: SmsChannel;
  /** Metadata that takes the place of all that was left in an account nobody has proven. */
  pendingData?: object | undefined;
  /** What the limit counts by, where that is not the number itself. */
  limitedBy?: string;
  audit: readonly object[];
  origin: Origin;
}

const sentAtOf = {
  signup: 'confirmation_sent_at',
  sms: 'confirmation_sent_at',
  phone_change: 'phone_change_sent_at',
  reauthentication: 'reauthentication_sent_at',
} as const satisfies Readonly<Record<PhonePurpose, SentAtColumn>>;

/**
 * Sends a code to a phone in place of earlier ones of its kind: it is a row of the outbox when this returns. One round
 * trip. All kinds share one interval for a number, because all of them ring at the same person.
 * @returns the user as it is now, and the name of the message in answers, which unknown numbers have as well
 * @throws Failure `over_sms_send_rate_limit` when something was sent there just before
 */
export async function sendPhoneCode(
  context: AuthContext,
  wanted: PhoneCode,
): Promise<{ person: Person | undefined; messageId: string }> {
  const { userId, purpose, phone, channel, pendingData, limitedBy = phone, audit, origin } = wanted;
  const prepared = preparePhoneCode(context, { purpose, phone, channel });
  const pending = pendingData === undefined ? {} : { pendingData };
  const code = { ...prepared, stored: { ...prepared.stored, ...pending } };
  const { person, messageId } = await sendCodes(context, {
    userId,
    purpose: 'phone',
    address: limitedBy,
    codes: [code],
    sentAt: [sentAtOf[purpose]],
    audit,
    origin,
  });
  return { person, messageId: code.fixedMessageId ?? messageId };
}

/**
 * Sends the nonce of a reauthentication to the number of an account (GET /reauthenticate, where there is no address).
 * @returns the name of the message
 * @throws Failure `phone_not_confirmed`, or `over_sms_send_rate_limit`
 */
export async function sendPhoneNonce(context: AuthContext, person: Person, origin: Origin): Promise<string> {
  const { user } = person;
  if (user.phone === null || user.phone === '') throw failures.reauthenticationNeedsAddress();
  if (user.phone_confirmed_at === null) throw failures.ownPhoneNotConfirmed();
  const { messageId } = await sendPhoneCode(context, {
    userId: user.id,
    purpose: 'reauthentication',
    phone: user.phone,
    channel: 'sms',
    audit: [auditEntry(user, 'user_reauthenticate_requested')],
    origin,
  });
  return messageId;
}
