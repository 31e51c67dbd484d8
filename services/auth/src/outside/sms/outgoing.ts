import type { SmsChannel } from '../../rules/addresses/phone-number.ts';

/** A message that is ready to go. */
export interface OutgoingSms {
  /** Stable over attempts. */
  id: string;
  /** Digits of an E.164 number, without `+`. */
  phone: string;
  text: string;
  /** The code in the text, for providers that keep the text themselves. */
  code: string;
  channel: SmsChannel;
}

/** Brings messages to phones. */
export interface SmsSender {
  /**
   * @throws SmsRefused when no further attempt can help
   * @throws Error when another attempt may
   */
  send(sms: OutgoingSms, signal: AbortSignal): Promise<void>;
  /**
   * Only with a provider that makes and checks the codes itself: whether this is the one it sent last.
   * @throws Error when the provider cannot say
   */
  verify?(phone: string, code: string, signal?: AbortSignal): Promise<boolean>;
}

/** The provider refused this very message for good. */
export class SmsRefused extends Error {
  override readonly name = 'SmsRefused';
}

/** What a provider's refusal becomes; a refused login or an empty account can be mended, a wrong number cannot. */
export function smsFailure(provider: string, reason: string, isFinal: boolean): Error {
  const message = `${provider} did not take the message: ${reason}`;
  return isFinal ? new SmsRefused(message) : new Error(message);
}
