import { providerIds } from '../rules/external/provider-ids.ts';
import { type AuthSettings, externalSettings } from '../settings.ts';

/** The first name of X is still the one that is shown; `x` itself was never (C1). */
const shown = providerIds.filter((id) => id !== 'x');

/** What clients may know of the configuration: the contract's members and the reference's (C1). */
export interface PublicSettingsJson {
  external: Record<string, boolean>;
  disable_signup: boolean;
  autoconfirm: boolean;
  mailer_autoconfirm: boolean;
  phone_autoconfirm: boolean;
  sms_provider: string;
  saml_enabled: boolean;
  saml_private_key_next_configured: boolean;
  mfa_enabled: boolean;
  passkeys_enabled: boolean;
}

/** Renders the public settings. What this service cannot do is false. */
export function publicSettingsJson(settings: AuthSettings): PublicSettingsJson {
  const external = Object.fromEntries(shown.map((id) => [id, externalSettings(settings, id).enabled]));
  return {
    external: {
      ...external,
      anonymous_users: settings.EXTERNAL_ANONYMOUS_USERS_ENABLED,
      email: settings.EXTERNAL_EMAIL_ENABLED,
      phone: settings.EXTERNAL_PHONE_ENABLED,
    },
    disable_signup: settings.DISABLE_SIGNUP,
    autoconfirm: settings.MAILER_AUTOCONFIRM,
    mailer_autoconfirm: settings.MAILER_AUTOCONFIRM,
    phone_autoconfirm: settings.SMS_AUTOCONFIRM,
    sms_provider: settings.SMS_PROVIDER ?? '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    mfa_enabled: settings.MFA_TOTP_VERIFY_ENABLED || settings.MFA_PHONE_VERIFY_ENABLED,
    passkeys_enabled: false,
  };
}
