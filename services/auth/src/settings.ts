import {
  boolean,
  choice,
  defineSettings,
  duration,
  integer,
  type Kind,
  list,
  port,
  secret,
  text,
  url,
  type Values,
} from '@croft/settings';
import { compileGlob, splitPatterns } from './rules/glob.ts';
import type { PasswordPolicy } from './rules/password-strength.ts';

/** An absolute address of any scheme, kept to the letter: single-page applications end in `/#/`. */
const siteAddress: Kind<string> = {
  label: 'absolute URL',
  parse(value) {
    if (!URL.canParse(value)) throw new Error('expected an absolute address such as https://example.org');
    return value;
  },
};

/** Glob patterns, refused here when malformed, so that a typing error cannot silently permit or forbid. */
const patterns: Kind<readonly string[]> = {
  label: 'comma-separated list of URLs with `*`, `**`, `?`, `[abc]`, `{a,b}`',
  parse(value) {
    const parts = splitPatterns(value);
    for (const part of parts) compileGlob(part);
    return parts;
  },
};

/** Sets separated by `:`, a literal one escaped by a backslash (§3.7 of the reference notes). */
const characterSets: Kind<readonly string[]> = {
  label: 'sets of characters separated by `:` (`\\:` is a colon)',
  parse: (value) =>
    value
      .split(/(?<!\\):/)
      .map((set) => set.replaceAll('\\:', ':'))
      .filter((set) => set !== ''),
};

/** Everything the auth service can be told. */
export const authSettings = defineSettings('Auth service', 'AUTHSVC_', {
  SITE_URL: {
    kind: siteAddress,
    required: true,
    about: 'Base URL of the site; URLs on its host are permitted as `redirect_to`.',
  },
  URI_ALLOW_LIST: { kind: patterns, default: '', about: 'Further URLs permitted as `redirect_to`.' },
  DISABLE_SIGNUP: { kind: boolean, default: 'false', about: 'Nobody can sign up by themselves.' },
  EXTERNAL_EMAIL_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Sign-up and sign-in with e-mail and password.',
  },

  API_HOST: { kind: text, default: '127.0.0.1', about: 'Address to listen on.' },
  API_PORT: { kind: port, default: '8081', alsoNamed: ['PORT'], about: 'Port to listen on.' },
  API_EXTERNAL_URL: {
    kind: url,
    required: true,
    about: 'Address under which the service is reached from outside; links in mails begin with it.',
  },
  API_MAX_REQUEST_DURATION: {
    kind: duration,
    default: '10s',
    about: 'Time a request may take before it is answered 504.',
  },
  REQUEST_ID_HEADER: { kind: text, about: 'Header from which a request inherits its id.' },
  CORS_ALLOWED_HEADERS: { kind: list, default: '', about: 'Further request headers browsers may send.' },

  DB_DRIVER: { kind: choice('postgres'), default: 'postgres', about: 'The one SQL dialect.' },
  DB_DATABASE_URL: {
    kind: secret,
    alsoNamed: ['DATABASE_URL'],
    about: 'Connection string of the database; without one the embedded server is used.',
  },
  DB_MAX_POOL_SIZE: {
    kind: integer(0, 10_000),
    default: '0',
    about: 'Database connections at most; 0 takes the default of 20.',
  },
  DB_NAMESPACE: { kind: text, default: 'auth', about: 'Schema of all tables.' },
  DB_PREPARE: {
    kind: boolean,
    default: 'true',
    about: 'Prepared statements; set to false behind pgbouncer in transaction mode.',
  },

  JWT_SECRET: { kind: secret, required: true, about: 'Key that signs access tokens (HS256).' },
  JWT_EXP: { kind: integer(1), default: '3600', about: 'Seconds an access token is valid.' },
  JWT_AUD: { kind: text, default: 'authenticated', about: 'Audience of new users.' },
  JWT_ISSUER: { kind: text, about: 'Value of the `iss` claim; without it the claim is left out.' },
  JWT_DEFAULT_GROUP_NAME: { kind: text, default: 'authenticated', about: 'Role of new users.' },
  JWT_ADMIN_ROLES: {
    kind: list,
    default: 'service_role,supabase_admin',
    about: 'Roles that may administrate.',
  },

  PASSWORD_MIN_LENGTH: {
    kind: integer(),
    default: '6',
    about: 'Shortest password, in bytes; never below 6.',
  },
  PASSWORD_REQUIRED_CHARACTERS: {
    kind: characterSets,
    default: '',
    about: 'A password needs at least one character of each set.',
  },

  SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Use of an outdated refresh token revokes its whole family.',
  },
  SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: {
    kind: duration,
    default: '0',
    about: 'Time in which the previous refresh token yields the current one; 0 sets no limit.',
  },

  SMTP_HOST: { kind: text, about: 'Mail server; without one mails are written to `<data>/mail`.' },
  SMTP_PORT: {
    kind: port,
    default: '587',
    about: 'Port of the mail server; 465 means TLS from the first byte.',
  },
  SMTP_USER: { kind: text, about: 'User name at the mail server.' },
  SMTP_PASS: { kind: secret, about: 'Password at the mail server.' },
  SMTP_ADMIN_EMAIL: { kind: text, about: 'From address of all mails; required with `SMTP_HOST`.' },
  SMTP_SENDER_NAME: { kind: text, about: 'Sender name; the default is the From address.' },
  SMTP_MAX_FREQUENCY: {
    kind: duration,
    default: '60',
    about:
      'Time between two sign-ups that mail the same address, at least; 0 sets no limit. Each mail brings a new code with ten guesses, so less makes guessing easier (the contract had 900 s, its servers of today 60 s).',
  },

  MAILER_AUTOCONFIRM: { kind: boolean, default: 'false', about: 'New addresses need no confirmation.' },
  MAILER_OTP_EXP: { kind: duration, default: '86400', about: 'Validity of a link or code sent by mail.' },
  MAILER_OTP_LENGTH: { kind: integer(), default: '6', about: 'Digits of a code, 6 to 10.' },
  MAILER_URLPATHS_CONFIRMATION: {
    kind: text,
    default: '/verify',
    about: 'Path of the link in confirmation mails.',
  },
  MAILER_SUBJECTS_CONFIRMATION: {
    kind: text,
    default: 'Confirm Your Signup',
    about: 'Subject of confirmation mails.',
  },
});

/** The values of `authSettings`. */
export type AuthSettings = Values<(typeof authSettings)['settings']>;

/** What new passwords must have. */
export function passwordPolicy(settings: AuthSettings): PasswordPolicy {
  return {
    minBytes: settings.PASSWORD_MIN_LENGTH,
    requiredCharacters: settings.PASSWORD_REQUIRED_CHARACTERS,
  };
}
