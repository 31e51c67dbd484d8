import { boolean, duration, float, integer, text } from '@croft/settings';

/** Second factors. */
export const mfaSettings = {
  MFA_TOTP_ENROLL_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Authenticator apps can be added as a second factor.',
  },
  MFA_TOTP_VERIFY_ENABLED: {
    kind: boolean,
    default: 'true',
    about:
      'Codes of authenticator apps are accepted. Without, whoever has only such factors cannot raise a session, which the forge asks for.',
  },
  MFA_PHONE_ENROLL_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Phone numbers can be added as a second factor; whoever takes over a number has it.',
  },
  MFA_PHONE_VERIFY_ENABLED: {
    kind: boolean,
    default: 'false',
    about:
      'Codes sent to a second factor are accepted. Without, whoever has only such factors cannot raise a session, which the forge asks for.',
  },
  MFA_PHONE_OTP_LENGTH: {
    kind: integer(),
    default: '6',
    about: 'Digits of a code for a second factor, 6 to 10; anything else counts as 6.',
  },
  MFA_PHONE_TEMPLATE: {
    kind: text,
    default: 'Your code is {{ .Code }}',
    about: 'Text of a message for a second factor; `{{ .Code }}` becomes the code.',
  },
  MFA_PHONE_MAX_FREQUENCY: {
    kind: duration,
    default: '60',
    about:
      'Time between two messages for a second factor to a number or of a user, at least; 0 sets no limit.',
  },
  MFA_RECOVERY_CODES_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Recovery codes can be made, and are accepted.',
  },
  MFA_MAX_ENROLLED_FACTORS: { kind: integer(1), default: '10', about: 'Factors a user can have.' },
  MFA_MAX_VERIFIED_FACTORS: {
    kind: integer(1),
    default: '10',
    about: 'Factors a user can have that were proven.',
  },
  MFA_CHALLENGE_EXPIRY_DURATION: {
    kind: duration,
    default: '300',
    about: 'Time to answer a challenge.',
  },
  MFA_FACTOR_EXPIRY_DURATION: {
    kind: duration,
    default: '300',
    about: 'Age at which a factor that was never proven makes room for the next one.',
  },
  MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: {
    kind: float(),
    default: '15',
    about: 'Challenges and answers of one client in a minute, refilled evenly.',
  },
  SESSIONS_ALLOW_LOW_AAL: {
    kind: duration,
    default: '0',
    about:
      'Age from which the session of a user with a second factor can no longer be refreshed if it has not shown that factor; 0 is never.',
  },
} as const;
