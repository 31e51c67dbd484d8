import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

// What asks for a mail or a message: /recover, /magiclink, /otp, /resend, /reauthenticate and sign-up.

const tooRecently = (seconds: number): string =>
  `For security purposes, you can only request this after ${seconds} seconds.`;

/** The same address was mailed a moment ago. */
export const mailedTooRecently = (seconds: number): Failure =>
  new Failure('exhausted', 'over_email_send_rate_limit', tooRecently(seconds), {
    retryAfterSeconds: seconds,
  });
/** The same number got a message a moment ago. */
export const textedTooRecently = (seconds: number): Failure =>
  new Failure('exhausted', 'over_sms_send_rate_limit', tooRecently(seconds), { retryAfterSeconds: seconds });
/** The whole service has sent its mails of the hour. */
export const emailRateExceeded = (retryAfterSeconds: number): Failure =>
  new Failure('exhausted', 'over_email_send_rate_limit', 'email rate limit exceeded', { retryAfterSeconds });
/** The whole service has sent its messages of the hour. */
export const smsRateExceeded = (retryAfterSeconds: number): Failure =>
  new Failure('exhausted', 'over_sms_send_rate_limit', 'SMS rate limit exceeded', { retryAfterSeconds });

/** The service that made a code cannot say at the moment whether it is the right one. */
export const smsProviderUnavailable = (cause: unknown): Failure =>
  new Failure(
    'unavailable',
    'sms_provider_unavailable',
    'The code cannot be verified at the moment, please retry after a moment.',
    { retryAfterSeconds: 5, cause },
  );

export const channelUnsupported = (): Failure =>
  invalidValue(
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  );
export const phoneInvalid = (): Failure => invalidValue('Invalid phone number format (E.164 required)');

// Doors that are shut; for these endpoints the protocol has 400 where sign-in has 422
export const emailRequestsDisabled = (): Failure =>
  new Failure('invalid', 'email_provider_disabled', 'Email logins are disabled');
export const phoneRequestsDisabled = (): Failure =>
  new Failure('invalid', 'phone_provider_disabled', 'Phone logins are disabled');
export const phoneCodesDisabled = (): Failure =>
  new Failure('invalid', 'phone_provider_disabled', 'Unsupported phone provider');
export const magicLinksDisabled = (): Failure =>
  new Failure('unprocessable', 'email_provider_disabled', 'Login with magic link is disabled');

// Whom to send to
export const recoveryEmailMissing = (): Failure => invalidValue('Password recovery requires an email');
/** The same text as for a recovery, with another status: so the protocol has it. */
export const magicLinkEmailMissing = (): Failure =>
  new Failure('unprocessable', 'validation_failed', 'Password recovery requires an email');
export const codeAddressAmbiguous = (): Failure =>
  invalidValue('Only an email address or phone number should be provided');
export const channelWithoutPhone = (): Failure =>
  invalidValue('Channel should only be specified with Phone OTP');
export const codeAddressMissing = (): Failure => invalidValue('One of email or phone must be set');
export const resendTypeMissing = (): Failure =>
  invalidValue('Missing one of these types: signup, email_change, sms, phone_change');
export const resendNeedsEmail = (): Failure => invalidValue('Type provided requires an email address');
export const resendNeedsPhone = (): Failure => invalidValue('Type provided requires a phone number');
export const resendAddressAmbiguous = (): Failure =>
  invalidValue('Only an email address or phone number should be provided.');
export const resendAddressMissing = (): Failure => invalidValue('Missing email address or phone number');
