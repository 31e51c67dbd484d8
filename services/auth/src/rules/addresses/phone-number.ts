import * as failures from '../../failures.ts';

/** How a message reaches a phone. */
export type SmsChannel = 'sms' | 'whatsapp';

/** A number as it is stored: one leading `+` and all spaces are dropped, nothing is checked. */
export function normalizePhone(text: string): string {
  return text.replace(/^\+/, '').replaceAll(' ', '');
}

/**
 * @returns the number as it is stored: the digits of E.164 without `+`
 * @throws Failure when it is none (as in GoTrue)
 */
export function checkPhoneNumber(text: string): string {
  const phone = normalizePhone(text);
  if (!/^[1-9]\d{1,14}$/.test(phone)) {
    throw failures.phoneInvalid();
  }
  return phone;
}

/**
 * The channel a client asks for; the empty text means SMS.
 * @param provider the value of `SMS_PROVIDER`
 * @throws Failure when there is no such channel, or not with this provider
 */
export function checkChannel(channel: string, provider: string | undefined): SmsChannel {
  if (channel === '' || channel === 'sms') return 'sms';
  if (channel === 'whatsapp' && (provider === 'twilio' || provider === 'twilio_verify')) return 'whatsapp';
  throw failures.channelUnsupported();
}
