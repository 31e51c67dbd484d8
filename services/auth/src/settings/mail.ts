import { boolean, choice, duration, integer, port, secret, text } from '@croft/settings';
import { mailHeaders } from './kinds.ts';

const path = (what: string) => ({
  kind: text,
  default: '/verify',
  about: `Path of the link in ${what}.`,
});
const subject = <const S extends string>(words: S, what: string) => ({
  kind: text,
  default: words,
  about: `Subject of ${what}.`,
});
const template = (what: string) => ({
  kind: text,
  about: `Template of ${what}: a URL, a file, or a path beneath \`SITE_URL\`; without one the built-in text.`,
});

/** The mail server, and what mails say. */
export const mailSettings = {
  SMTP_HOST: { kind: text, about: 'Mail server; without one mails are written to `<data>/mail`.' },
  SMTP_PORT: {
    kind: port,
    default: '587',
    about: 'Port of the mail server; 465 means TLS from the first byte.',
  },
  SMTP_USER: { kind: text, about: 'User name at the mail server.' },
  SMTP_PASS: { kind: secret, about: 'Password at the mail server.' },
  SMTP_TLS: {
    kind: choice('auto', 'starttls', 'implicit', 'none'),
    default: 'auto',
    about:
      'Encryption towards the mail server. `auto`: from the first byte on port 465, else STARTTLS, which is required as soon as there is a `SMTP_USER`.',
  },
  SMTP_TLS_CA_FILE: {
    kind: text,
    about: 'File of certificates (PEM) that are trusted besides the usual ones.',
  },
  SMTP_ADMIN_EMAIL: { kind: text, about: 'From address of all mails; required with `SMTP_HOST`.' },
  SMTP_SENDER_NAME: { kind: text, about: 'Sender name; the default is the From address.' },
  SMTP_HEADERS: {
    kind: mailHeaders,
    about: 'Headers of every mail; `$messageType` in them becomes the kind of mail.',
  },
  SMTP_LOGGING_ENABLED: {
    kind: boolean,
    default: 'false',
    about: 'Every mail that is sent and the talk with the server are logged, without contents and passwords.',
  },
  SMTP_MAX_FREQUENCY: {
    kind: duration,
    default: '60',
    about:
      'Time between two mails of one purpose to the same address, at least; 0 sets no limit. Each mail brings a new code with ten guesses, so less makes guessing easier (the contract had 900 s, its servers of today 60 s).',
  },

  MAILER_AUTOCONFIRM: { kind: boolean, default: 'false', about: 'New addresses need no confirmation.' },
  MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: {
    kind: boolean,
    default: 'false',
    about:
      'Who comes from a provider may sign in with an address nobody verified; not with `MAILER_AUTOCONFIRM`. The forge takes it for his, and tells it the programs to which he signs in there.',
  },
  MAILER_SECURE_EMAIL_CHANGE_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'A new address is confirmed from the old one as well.',
  },
  MAILER_OTP_EXP: { kind: duration, default: '86400', about: 'Validity of a link or code sent by mail.' },
  MAILER_OTP_LENGTH: {
    kind: integer(),
    default: '6',
    about: 'Digits of a code, 6 to 10; anything else counts as 6.',
  },
  MAILER_LINK_CONFIRM_PAGE: {
    kind: boolean,
    default: 'false',
    about: 'A link shows a page with a button first, so that scanners of mail cannot use it up.',
  },

  MAILER_URLPATHS_INVITE: path('invitations'),
  MAILER_URLPATHS_CONFIRMATION: path('confirmation mails'),
  MAILER_URLPATHS_RECOVERY: path('recovery mails and magic links'),
  MAILER_URLPATHS_EMAIL_CHANGE: path('mails about a change of address'),

  MAILER_SUBJECTS_INVITE: subject('You have been invited', 'invitations'),
  MAILER_SUBJECTS_CONFIRMATION: subject('Confirm Your Signup', 'confirmation mails'),
  MAILER_SUBJECTS_RECOVERY: subject('Reset Your Password', 'recovery mails'),
  MAILER_SUBJECTS_MAGIC_LINK: subject('Your Magic Link', 'magic links'),
  MAILER_SUBJECTS_EMAIL_CHANGE: subject('Confirm Email Change', 'mails about a change of address'),
  MAILER_SUBJECTS_REAUTHENTICATION: subject('Confirm reauthentication', 'mails with a reauthentication code'),

  MAILER_TEMPLATES_INVITE: template('invitations'),
  MAILER_TEMPLATES_CONFIRMATION: template('confirmation mails'),
  MAILER_TEMPLATES_RECOVERY: template('recovery mails'),
  MAILER_TEMPLATES_MAGIC_LINK: template('magic links'),
  MAILER_TEMPLATES_EMAIL_CHANGE: template('mails about a change of address'),
  MAILER_TEMPLATES_REAUTHENTICATION: template('mails with a reauthentication code'),
  MAILER_TEMPLATE_MAX_SIZE: {
    kind: integer(1, 100_000_000),
    default: '1000000',
    about: 'Bytes of a template at most; a larger one counts as unavailable.',
  },
  MAILER_TEMPLATE_MAX_AGE: {
    kind: duration,
    default: '10m',
    about: 'Age at which a template is fetched again.',
  },
  MAILER_TEMPLATE_RETRY_INTERVAL: {
    kind: duration,
    default: '10s',
    about: 'Time after which a template that could not be had is tried again.',
  },
} as const;
