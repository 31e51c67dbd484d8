import { boolean } from '@croft/settings';

/** Who may come in, and by which door. */
export const signUpSettings = {
  DISABLE_SIGNUP: { kind: boolean, default: 'false', about: 'Nobody can sign up by themselves.' },
  EXTERNAL_EMAIL_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Sign-up and sign-in with e-mail and password.',
  },
  EXTERNAL_EMAIL_MAGIC_LINK_ENABLED: { kind: boolean, default: 'true', about: 'Sign-in by a mailed link.' },
  EXTERNAL_PHONE_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Sign-up and sign-in with a phone number.',
  },
  EXTERNAL_ANONYMOUS_USERS_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Users without an address or a number.',
  },
} as const;
