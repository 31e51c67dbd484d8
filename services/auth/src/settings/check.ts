import { providerIds } from '../rules/external/provider-ids.ts';
import { externalSettings } from './external.ts';
import { checkHooks } from './hooks.ts';
import type { AuthSettings } from './index.ts';

type SmsProvider = NonNullable<AuthSettings['SMS_PROVIDER']>;

/** What each SMS service cannot be spoken to without. */
const SMS_CREDENTIALS: Readonly<Record<SmsProvider, readonly (keyof AuthSettings)[]>> = {
  twilio: ['SMS_TWILIO_ACCOUNT_SID', 'SMS_TWILIO_AUTH_TOKEN', 'SMS_TWILIO_MESSAGE_SERVICE_SID'],
  twilio_verify: [
    'SMS_TWILIO_VERIFY_ACCOUNT_SID',
    'SMS_TWILIO_VERIFY_AUTH_TOKEN',
    'SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID',
  ],
  messagebird: ['SMS_MESSAGEBIRD_ACCESS_KEY', 'SMS_MESSAGEBIRD_ORIGINATOR'],
  textlocal: ['SMS_TEXTLOCAL_API_KEY', 'SMS_TEXTLOCAL_SENDER'],
  vonage: ['SMS_VONAGE_API_KEY', 'SMS_VONAGE_API_SECRET', 'SMS_VONAGE_FROM'],
};

/** Everything that no setting can say about itself, all problems at once, each with the variables' full names. */
export function checkAuthSettings(settings: AuthSettings): string[] {
  return [
    ...checkDatabase(settings),
    ...checkMail(settings),
    ...checkSms(settings),
    ...checkCaptcha(settings),
    ...checkHooks(settings),
    ...checkSmsHook(settings),
    ...providerIds.flatMap((id) => checkProvider(settings, id)),
    ...checkIdTokenIssuers(settings),
  ];
}

/** PostgreSQL cuts longer names off without a word, and keeps those with `pg_` for itself. */
function checkDatabase({ DB_NAMESPACE: schema }: AuthSettings): string[] {
  const reserved = /^pg_|^information_schema$/i.test(schema);
  // oxlint-disable-next-line no-control-regex -- these are what a name must not have
  if (!reserved && !/[\0-\x1f]/.test(schema) && Buffer.byteLength(schema) <= 63) return [];
  return [
    'AUTHSVC_DB_NAMESPACE must be the name of a schema: at most 63 bytes, not beginning with pg_, not information_schema',
  ];
}

function checkMail(settings: AuthSettings): string[] {
  const problems: string[] = [];
  if (settings.SMTP_HOST !== undefined && settings.SMTP_ADMIN_EMAIL === undefined) {
    problems.push(
      'AUTHSVC_SMTP_ADMIN_EMAIL is required with AUTHSVC_SMTP_HOST: mails need an address to come from',
    );
  }
  if (settings.MAILER_AUTOCONFIRM && settings.MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS) {
    problems.push(
      'AUTHSVC_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS cannot be on together with AUTHSVC_MAILER_AUTOCONFIRM, which confirms every address',
    );
  }
  return problems;
}

function checkSms(settings: AuthSettings): string[] {
  const { SMS_PROVIDER: provider, MFA_PHONE_ENROLL_ENABLED, MFA_PHONE_VERIFY_ENABLED } = settings;
  const sends = settings.EXTERNAL_PHONE_ENABLED || MFA_PHONE_ENROLL_ENABLED || MFA_PHONE_VERIFY_ENABLED;
  // The hook sends in its place.
  if (!sends || provider === undefined || settings.HOOK_SEND_SMS_ENABLED) return [];
  return SMS_CREDENTIALS[provider]
    .filter((name) => settings[name] === undefined)
    .map((name) => `AUTHSVC_${name} is required with AUTHSVC_SMS_PROVIDER=${provider}`);
}

/** It makes the codes itself, and would be asked about ones it never made. */
function checkSmsHook(settings: AuthSettings): string[] {
  if (!settings.HOOK_SEND_SMS_ENABLED || settings.SMS_PROVIDER !== 'twilio_verify') return [];
  return [
    'AUTHSVC_HOOK_SEND_SMS_ENABLED cannot be on together with AUTHSVC_SMS_PROVIDER=twilio_verify, which makes the codes itself',
  ];
}

function checkCaptcha(settings: AuthSettings): string[] {
  if (!settings.SECURITY_CAPTCHA_ENABLED || settings.SECURITY_CAPTCHA_SECRET !== undefined) return [];
  return ['AUTHSVC_SECURITY_CAPTCHA_SECRET is required with AUTHSVC_SECURITY_CAPTCHA_ENABLED'];
}

/** Providers that have settings of their own for it. */
const PROVIDERS_OF_ID_TOKENS = new Set([
  'appleid.apple.com',
  'account.apple.com',
  'accounts.google.com',
  'login.microsoftonline.com',
  'www.facebook.com',
  'kauth.kakao.com',
]);

function checkIdTokenIssuers({ EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: issuers }: AuthSettings): string[] {
  return issuers
    .filter(({ issuer, clientIds }) => {
      return clientIds.length === 0 && !PROVIDERS_OF_ID_TOKENS.has(new URL(issuer).hostname);
    })
    .map(
      ({ issuer }) =>
        `AUTHSVC_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS needs client ids after ${issuer}: without them a token made for anybody's client would open accounts here`,
    );
}

/**
 * What looks like a mistake but may be meant, such as behind a proxy that rewrites paths.
 * @returns sentences for the log
 */
export function doubtsAboutAuthSettings(settings: AuthSettings): string[] {
  const home = new URL(settings.API_EXTERNAL_URL).origin;
  return providerIds.flatMap((id) => {
    const { enabled, redirectUri } = externalSettings(settings, id);
    if (!enabled || redirectUri === undefined || new URL(redirectUri).origin === home) return [];
    return [
      `AUTHSVC_EXTERNAL_${id.toUpperCase()}_REDIRECT_URI is not at ${home}, the origin of AUTHSVC_API_EXTERNAL_URL: people come back without the cookie they left with, and their sign-in is refused`,
    ];
  });
}

function checkProvider(settings: AuthSettings, id: (typeof providerIds)[number]): string[] {
  const { enabled, clientId, secret, redirectUri, url } = externalSettings(settings, id);
  if (!enabled) return [];
  const prefix = `AUTHSVC_EXTERNAL_${id.toUpperCase()}_`;
  const problems = Object.entries({ CLIENT_ID: clientId, SECRET: secret, REDIRECT_URI: redirectUri })
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${prefix}${name} is required with ${prefix}ENABLED`);
  if (id === 'keycloak' && url === undefined) {
    problems.push(`${prefix}URL is required with ${prefix}ENABLED: the address of the realm`);
  }
  return problems;
}
