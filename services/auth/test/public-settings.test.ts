import { expect, test } from 'vitest';
import { startSubject } from './harness.ts';

const external = (enabled: readonly string[]) =>
  Object.fromEntries(
    (
      'apple azure bitbucket discord facebook figma github gitlab google keycloak linkedin notion slack spotify ' +
      'twitch twitter workos fly kakao linkedin_oidc slack_oidc snapchat zoom anonymous_users email phone'
    )
      .split(' ')
      .map((name) => [name, enabled.includes(name)]),
  );

test('by default: sign-up with an address that is confirmed by mail', async () => {
  await using subject = await startSubject();
  const answer = await subject.get('/settings');
  expect(answer.body).toMatchObject({
    disable_signup: false,
    autoconfirm: false,
    mailer_autoconfirm: false,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    mfa_enabled: true,
    passkeys_enabled: false,
  });
  expect(answer.body['external']).toEqual(external(['email']));
});

test('what the operator switched on is shown, and no credential of it', async () => {
  await using subject = await startSubject({
    AUTHSVC_DISABLE_SIGNUP: 'true',
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    AUTHSVC_SMS_AUTOCONFIRM: 'true',
    AUTHSVC_EXTERNAL_EMAIL_ENABLED: 'false',
    AUTHSVC_EXTERNAL_PHONE_ENABLED: 'true',
    AUTHSVC_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTHSVC_MFA_TOTP_VERIFY_ENABLED: 'false',
    AUTHSVC_SMS_PROVIDER: 'vonage',
    AUTHSVC_SMS_VONAGE_API_SECRET: 'the-secret',
    AUTHSVC_EXTERNAL_SLACK_OIDC_ENABLED: 'true',
    AUTHSVC_EXTERNAL_SLACK_OIDC_CLIENT_ID: 'the-client',
    AUTHSVC_EXTERNAL_SLACK_OIDC_SECRET: 'the-secret',
    AUTHSVC_EXTERNAL_SLACK_OIDC_REDIRECT_URI: 'https://auth.example/callback',
  });
  const answer = await subject.get('/settings');
  expect(answer.body).toMatchObject({
    disable_signup: true,
    autoconfirm: true,
    mailer_autoconfirm: true,
    phone_autoconfirm: true,
    sms_provider: 'vonage',
    mfa_enabled: false,
  });
  expect(answer.body['external']).toEqual(external(['slack_oidc', 'phone', 'anonymous_users']));
  expect(answer.text).not.toMatch(/the-(secret|client)/);
});
