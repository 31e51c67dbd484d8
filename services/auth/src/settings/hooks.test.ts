import { readSettings } from '@croft/settings';
import { describe, expect, it } from 'vitest';
import { authSettings, checkAuthSettings } from './index.ts';

const problems = (more: Record<string, string>): string[] =>
  checkAuthSettings(
    readSettings(authSettings, {
      AUTHSVC_SITE_URL: 'https://site.test',
      AUTHSVC_API_EXTERNAL_URL: 'https://auth.test',
      AUTHSVC_JWT_SECRET: 'secret',
      ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`AUTHSVC_${name}`, value])),
    }),
  );
const SECRETS = 'v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const smsHook = (uri: string, secrets?: string) => ({
  HOOK_SEND_SMS_ENABLED: 'true',
  HOOK_SEND_SMS_URI: uri,
  ...(secrets === undefined ? {} : { HOOK_SEND_SMS_SECRETS: secrets }),
});

describe('hooks that can be asked', () => {
  it.each([
    smsHook('https://hooks.test/sms', SECRETS),
    smsHook('http://localhost:7000/', `${SECRETS}|${SECRETS}`),
    smsHook('pg-functions://postgres/public/send_sms'),
    // What is off may be anything.
    { HOOK_SEND_SMS_URI: 'nowhere', HOOK_SEND_SMS_SECRETS: 'x' },
  ])('%j', (given) => {
    expect(problems(given)).toEqual([]);
  });
});

describe('hooks that cannot', () => {
  it.each([
    [
      { HOOK_SEND_SMS_ENABLED: 'true' },
      ['AUTHSVC_HOOK_SEND_SMS_URI is required with AUTHSVC_HOOK_SEND_SMS_ENABLED'],
    ],
    [
      smsHook('https://hooks.test/'),
      [
        'AUTHSVC_HOOK_SEND_SMS_SECRETS is required: an endpoint cannot tell our requests from others without it',
      ],
    ],
    [
      smsHook('http://hooks.test/', 'password'),
      [
        'AUTHSVC_HOOK_SEND_SMS_URI takes http only for localhost, 127.0.0.1, [::1] and host.docker.internal, other hosts need https',
        'AUTHSVC_HOOK_SEND_SMS_SECRETS must be v1,whsec_<base64 of 24 to 64 bytes>, several separated by |',
      ],
    ],
    [
      smsHook('pg-functions://postgres/public'),
      [
        'AUTHSVC_HOOK_SEND_SMS_URI must be pg-functions://<database>/<schema>/<function>, each of letters, digits and underscores, at most 63',
      ],
    ],
    [
      {
        ...smsHook('https://hooks.test/', SECRETS),
        SMS_PROVIDER: 'twilio_verify',
      },
      [
        'AUTHSVC_HOOK_SEND_SMS_ENABLED cannot be on together with AUTHSVC_SMS_PROVIDER=twilio_verify, which makes the codes itself',
      ],
    ],
  ])('%j', (given, expected) => {
    expect(problems(given)).toEqual(expected);
    expect(JSON.stringify(problems(given))).not.toContain('password');
  });

  it('are named all at once', () => {
    const given = { HOOK_SEND_EMAIL_ENABLED: 'true', HOOK_BEFORE_USER_CREATED_ENABLED: 'true' };
    expect(problems(given)).toHaveLength(2);
  });
});
