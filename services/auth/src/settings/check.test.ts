import { readSettings, Secret } from '@croft/settings';
import { describe, expect, it } from 'vitest';
import { providerIds } from '../rules/external/provider-ids.ts';
import { authSettings, checkAuthSettings, externalSettings } from './index.ts';

const required = {
  AUTHSVC_SITE_URL: 'https://site.test',
  AUTHSVC_API_EXTERNAL_URL: 'https://auth.test',
  AUTHSVC_JWT_SECRET: 'secret',
};
const read = (more: Record<string, string> = {}) =>
  readSettings(authSettings, { ...required, ...prefixed(more) });
const prefixed = (variables: Record<string, string>) =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [`AUTHSVC_${name}`, value]));
const problems = (more?: Record<string, string>) => checkAuthSettings(read(more));

describe('settings that fit together', () => {
  it.each([
    {},
    { SMTP_HOST: 'mail.test', SMTP_ADMIN_EMAIL: 'a@site.test' },
    { MAILER_AUTOCONFIRM: 'true' },
    { MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
    { SECURITY_CAPTCHA_ENABLED: 'true', SECURITY_CAPTCHA_SECRET: 's' },
    { EXTERNAL_PHONE_ENABLED: 'true' },
    { SMS_PROVIDER: 'twilio' },
    {
      EXTERNAL_PHONE_ENABLED: 'true',
      SMS_PROVIDER: 'twilio',
      HOOK_SEND_SMS_ENABLED: 'true',
      HOOK_SEND_SMS_URI: 'pg-functions://postgres/public/send_sms',
    },
    {
      EXTERNAL_PHONE_ENABLED: 'true',
      SMS_PROVIDER: 'textlocal',
      SMS_TEXTLOCAL_API_KEY: 'k',
      SMS_TEXTLOCAL_SENDER: 's',
    },
    {
      EXTERNAL_GITHUB_ENABLED: 'true',
      EXTERNAL_GITHUB_CLIENT_ID: 'i',
      EXTERNAL_GITHUB_SECRET: 's',
      EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.test/callback',
    },
    { EXTERNAL_GITHUB_CLIENT_ID: 'i' },
    { DB_NAMESPACE: 'My people' },
  ])('%j', (given) => {
    expect(problems(given)).toEqual([]);
  });
});

describe('settings that do not', () => {
  it.each([
    [{ SMTP_HOST: 'mail.test' }, [/^AUTHSVC_SMTP_ADMIN_EMAIL is required with AUTHSVC_SMTP_HOST/]],
    [
      { MAILER_AUTOCONFIRM: 'true', MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
      [/^AUTHSVC_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS cannot be on/],
    ],
    [{ SECURITY_CAPTCHA_ENABLED: 'true' }, [/^AUTHSVC_SECURITY_CAPTCHA_SECRET is required/]],
    [
      { EXTERNAL_PHONE_ENABLED: 'true', SMS_PROVIDER: 'vonage', SMS_VONAGE_API_KEY: 'k' },
      [/^AUTHSVC_SMS_VONAGE_API_SECRET is required/, /^AUTHSVC_SMS_VONAGE_FROM is required/],
    ],
    ...['MFA_PHONE_ENROLL_ENABLED', 'MFA_PHONE_VERIFY_ENABLED'].map(
      (name): [Record<string, string>, RegExp[]] => [
        { [name]: 'true', SMS_PROVIDER: 'textlocal', SMS_TEXTLOCAL_SENDER: 's' },
        [/^AUTHSVC_SMS_TEXTLOCAL_API_KEY is required/],
      ],
    ),
    [
      { EXTERNAL_X_ENABLED: 'true', EXTERNAL_X_CLIENT_ID: ' , ' },
      [
        /^AUTHSVC_EXTERNAL_X_CLIENT_ID is required/,
        /^AUTHSVC_EXTERNAL_X_SECRET is required/,
        /^AUTHSVC_EXTERNAL_X_REDIRECT_URI is required/,
      ],
    ],
    [
      {
        EXTERNAL_KEYCLOAK_ENABLED: 'true',
        EXTERNAL_KEYCLOAK_CLIENT_ID: 'i',
        EXTERNAL_KEYCLOAK_SECRET: 's',
        EXTERNAL_KEYCLOAK_REDIRECT_URI: 'https://auth.test/callback',
      },
      [/^AUTHSVC_EXTERNAL_KEYCLOAK_URL is required/],
    ],
    [{ DB_NAMESPACE: 'pg_auth' }, [/^AUTHSVC_DB_NAMESPACE must be/]],
    [{ DB_NAMESPACE: 'information_schema' }, [/^AUTHSVC_DB_NAMESPACE must be/]],
    [{ DB_NAMESPACE: 'ä'.repeat(32) }, [/^AUTHSVC_DB_NAMESPACE must be/]],
  ])('%j', (given, expected) => {
    expect(problems(given)).toEqual(expected.map((pattern) => expect.stringMatching(pattern) as string));
  });

  it('are all told at once, and never with a secret', () => {
    const told = problems({
      SMTP_HOST: 'mail.test',
      SECURITY_CAPTCHA_ENABLED: 'true',
      EXTERNAL_APPLE_ENABLED: 'true',
      EXTERNAL_APPLE_SECRET: 'hunter2',
      DB_NAMESPACE: 'pg_x',
    });
    expect(told).toHaveLength(5);
    expect(told.join()).not.toContain('hunter2');
  });
});

describe('settings of a provider', () => {
  it.each(providerIds)('%s', (id) => {
    const name = `EXTERNAL_${id.toUpperCase()}`;
    const settings = read({
      [`${name}_ENABLED`]: 'true',
      [`${name}_CLIENT_ID`]: 'first, second',
      [`${name}_SECRET`]: 's',
      [`${name}_REDIRECT_URI`]: 'https://auth.test/callback/',
      [`${name}_URL`]: 'https://provider.test/realm/',
      [`${name}_EMAIL_OPTIONAL`]: 'true',
      [`${name}_SKIP_NONCE_CHECK`]: 'true',
    });
    expect(externalSettings(settings, id)).toEqual({
      enabled: true,
      clientId: 'first',
      clientIds: ['first', 'second'],
      secret: expect.any(Secret) as Secret,
      redirectUri: 'https://auth.test/callback/',
      url: 'https://provider.test/realm',
      emailOptional: true,
      skipNonceCheck: true,
    });
    for (const other of providerIds.filter((one) => one !== id)) {
      expect(externalSettings(settings, other)).toMatchObject({ enabled: false, clientId: undefined });
    }
  });
});

it.each(['0', '1ms', '999ms'])('requests of %s are refused', (time) => {
  expect(() => read({ API_MAX_REQUEST_DURATION: time })).toThrow(
    `AUTHSVC_API_MAX_REQUEST_DURATION: expected a duration from 1s to 24 days (576h), not "${time}"`,
  );
});

it('requests of a second are not', () => {
  expect(problems({ API_MAX_REQUEST_DURATION: '1s' })).toEqual([]);
});
