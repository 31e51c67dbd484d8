import { Failure } from '@croft/failure';
import { invalidValue, UNEXPECTED } from './request.ts';

// Choice of the provider
export const oauthProviderNotFound = (name: string): Failure =>
  invalidValue(`Unsupported provider: Provider ${name} could not be found`);
export const oauthProviderDisabled = (): Failure =>
  invalidValue('Unsupported provider: provider is not enabled');
export const oauthProviderIncomplete = (
  missing: 'OAuth client ID' | 'OAuth secret' | 'redirect URI' | 'URL',
): Failure => invalidValue(`Unsupported provider: missing ${missing}`);
export const inviteTokenUnknown = (): Failure =>
  new Failure('not-found', 'user_not_found', 'User identified by token not found');

// State of a flow
export const oauthStateMissing = (): Failure =>
  new Failure('invalid', 'bad_oauth_callback', 'OAuth state parameter missing');
export const oauthStateInvalid = (): Failure =>
  new Failure('invalid', 'bad_oauth_state', 'OAuth callback with invalid state');
export const oauthStateExpired = (): Failure =>
  new Failure('invalid', 'bad_oauth_state', 'OAuth state has expired');
/** The browser that comes back is not the one that went. */
export const oauthStateForeign = (): Failure =>
  new Failure('invalid', 'bad_oauth_state', 'OAuth state belongs to another browser');
export const oauthCodeMissing = (): Failure =>
  new Failure('invalid', 'bad_oauth_callback', 'OAuth callback with missing authorization code missing');

// What the provider says
/** @param code what the provider sent; only its beginning is shown */
export const oauthCodeRefused = (code: string, cause: unknown): Failure =>
  new Failure('unavailable', UNEXPECTED, `Unable to exchange external code: ${code.slice(0, 4)}`, { cause });
export const externalProfileUnavailable = (cause: unknown): Failure =>
  new Failure('unavailable', UNEXPECTED, 'Error getting user profile from external provider', { cause });
export const externalEmailMissing = (): Failure =>
  new Failure('unavailable', UNEXPECTED, 'Error getting user email from external provider');

// Whose account it is
export const externalAccountsAmbiguous = (domain: string): Failure =>
  new Failure(
    'unavailable',
    UNEXPECTED,
    `Multiple accounts with the same email address in the same linking domain detected: ${domain}`,
  );
/** As for sign-up, but told by a redirect as `access_denied`. */
export const externalSignupDisabled = (): Failure =>
  new Failure('forbidden', 'signup_disabled', 'Signups not allowed for this instance');
/** The provider vouches for no address; a mail asks its owner. */
export const externalEmailUnverified = (provider: string): Failure =>
  new Failure(
    'forbidden',
    'provider_email_needs_verification',
    `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`,
  );
export const invitedEmailDiffers = (): Failure =>
  invalidValue('Invited email does not match emails from external provider');
