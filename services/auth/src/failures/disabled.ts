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
