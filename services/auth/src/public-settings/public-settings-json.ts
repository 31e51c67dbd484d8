import type { AuthSettings } from '../settings.ts';

/** The external providers of the contract, and those today's clients know besides them. */
const PROVIDERS = (
  'apple azure bitbucket discord facebook figma github gitlab google keycloak linkedin notion slack spotify twitch ' +
  'twitter workos fly kakao linkedin_oidc slack_oidc snapchat zoom'
).split(' ');

/** What clients may know of the configuration: the contract's members and the reference's (C1). */
export interface PublicSettingsJson {
  external: Record<string, boolean>;
  disable_signup: boolean;
  autoconfirm: boolean;
  mailer_autoconfirm: boolean;
  phone_autoconfirm: boolean;
  sms_provider: string;
  saml_enabled: boolean;
  mfa_enabled: boolean;
  passkeys_enabled: boolean;
}

/** Renders the public settings. What this service cannot do is false. */
export function publicSettingsJson(settings: AuthSettings): PublicSettingsJson {
  const external = Object.fromEntries(PROVIDERS.map((provider) => [provider, false]));
  return {
    external: { ...external, anonymous_users: false, email: settings.EXTERNAL_EMAIL_ENABLED, phone: false },
    disable_signup: settings.DISABLE_SIGNUP,
    autoconfirm: settings.MAILER_AUTOCONFIRM,
    mailer_autoconfirm: settings.MAILER_AUTOCONFIRM,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    mfa_enabled: false,
    passkeys_enabled: false,
  };
}
