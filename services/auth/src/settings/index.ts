import { defineSettings, type Values } from '@croft/settings';
import type { PasswordPolicy } from '../rules/passwords/password-strength.ts';
import { captchaSettings } from './captcha.ts';
import { databaseSettings } from './database.ts';
import { externalProviderSettings } from './external.ts';
import { hookSettings } from './hooks.ts';
import { limitSettings } from './limits.ts';
import { mailSettings } from './mail.ts';
import { mfaSettings } from './mfa.ts';
import { passwordSettings } from './passwords.ts';
import { serviceSettings } from './service.ts';
import { signUpSettings } from './sign-up.ts';
import { smsSettings } from './sms.ts';
import { telemetrySettings } from './telemetry.ts';
import { tokenSettings } from './tokens.ts';

export { checkAuthSettings, doubtsAboutAuthSettings } from './check.ts';
export { type ExternalSettings, externalSettings } from './external.ts';

/** Everything the auth service can be told. */
export const authSettings = defineSettings('Auth service', 'AUTHSVC_', {
  ...serviceSettings,
  ...databaseSettings,
  ...signUpSettings,
  ...tokenSettings,
  ...mfaSettings,
  ...passwordSettings,
  ...mailSettings,
  ...smsSettings,
  ...captchaSettings,
  ...limitSettings,
  ...externalProviderSettings,
  ...hookSettings,
  ...telemetrySettings,
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
