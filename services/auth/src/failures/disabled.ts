import { Failure } from '@croft/failure';

// What clients of GoTrue can ask for and this service does not have, in the words GoTrue has for it where it is switched off.

export const ssoOff = (): Failure =>
  new Failure('not-found', 'saml_provider_disabled', 'SAML 2.0 is disabled');
export const oauthServerOff = (): Failure =>
  new Failure('not-found', 'feature_disabled', 'OAuth server is disabled');
export const scimOff = (): Failure => new Failure('not-found', 'feature_disabled', 'SCIM is disabled');
export const customProvidersOff = (): Failure =>
  new Failure('not-found', 'feature_disabled', 'Custom providers are disabled');
export const passkeysOff = (): Failure =>
  new Failure('not-found', 'passkey_disabled', 'Passkeys are disabled');
export const linkingOff = (): Failure =>
  new Failure('not-found', 'manual_linking_disabled', 'Manual linking is disabled');
export const enrolmentOff = (): Failure =>
  new Failure('unprocessable', 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP');
/** Nobody has one, because none can be enrolled. */
export const factorUnknown = (): Failure =>
  new Failure('not-found', 'mfa_factor_not_found', 'Factor not found');
export const web3Off = (): Failure =>
  new Failure('unprocessable', 'web3_provider_disabled', 'Web3 provider is disabled');
export const idTokensOff = (): Failure =>
  new Failure('invalid', 'provider_disabled', 'Sign-in with ID tokens is disabled');
