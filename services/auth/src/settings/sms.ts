import { boolean, choice, duration, integer, secret, text, timestamp, url } from '@croft/settings';
import { testCodes } from './kinds.ts';

/** The SMS service, and what messages say. */
export const smsSettings = {
  SMS_PROVIDER: {
    kind: choice('twilio', 'twilio_verify', 'messagebird', 'textlocal', 'vonage'),
    about: 'SMS service; without one messages are written to `<data>/sms`.',
  },
  SMS_URL: { kind: url, about: 'Address of the SMS service instead of its own, for tests and proxies.' },
  SMS_AUTOCONFIRM: { kind: boolean, default: 'false', about: 'New phone numbers need no confirmation.' },
  SMS_MAX_FREQUENCY: {
    kind: duration,
    default: '60',
    about: 'Time between two messages of one kind to the same number, at least; 0 sets no limit.',
  },
  SMS_OTP_EXP: { kind: duration, default: '60', about: 'Validity of a code sent by SMS.' },
  SMS_OTP_LENGTH: {
    kind: integer(),
    default: '6',
    about: 'Digits of a code, 6 to 10; anything else counts as 6.',
  },
  SMS_TEMPLATE: {
    kind: text,
    default: 'Your code is {{ .Code }}',
    about: 'Text of a message; `{{ .Code }}` becomes the code.',
  },
  SMS_TEST_OTP: {
    kind: testCodes,
    default: '',
    about: 'Numbers that get no message and take the code given here.',
  },
  SMS_TEST_OTP_VALID_UNTIL: {
    kind: timestamp,
    about: 'End of `SMS_TEST_OTP`; without it they are valid for ever.',
  },

  SMS_TWILIO_ACCOUNT_SID: { kind: text, about: 'Account at Twilio.' },
  SMS_TWILIO_AUTH_TOKEN: { kind: secret, about: 'Token of the account at Twilio.' },
  SMS_TWILIO_MESSAGE_SERVICE_SID: {
    kind: text,
    about: 'Message service at Twilio, or the number to send from.',
  },
  SMS_TWILIO_CONTENT_SID: { kind: text, about: 'Content template at Twilio for WhatsApp.' },
  SMS_TWILIO_VERIFY_ACCOUNT_SID: { kind: text, about: 'Account at Twilio Verify.' },
  SMS_TWILIO_VERIFY_AUTH_TOKEN: { kind: secret, about: 'Token of the account at Twilio Verify.' },
  SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: { kind: text, about: 'Verify service at Twilio.' },
  SMS_MESSAGEBIRD_ACCESS_KEY: { kind: secret, about: 'Access key of MessageBird.' },
  SMS_MESSAGEBIRD_ORIGINATOR: { kind: text, about: 'Number (with `+`) or company that messages come from.' },
  SMS_TEXTLOCAL_API_KEY: { kind: secret, about: 'API key of Textlocal.' },
  SMS_TEXTLOCAL_SENDER: { kind: text, about: 'Sender at Textlocal.' },
  SMS_VONAGE_API_KEY: { kind: secret, about: 'API key of Vonage.' },
  SMS_VONAGE_API_SECRET: { kind: secret, about: 'API secret of Vonage.' },
  SMS_VONAGE_FROM: { kind: text, about: 'Sender at Vonage.' },
} as const;
