import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

export const grantTypeUnsupported = (): Failure =>
  new Failure('invalid', 'invalid_credentials', 'unsupported_grant_type');
export const emailLoginsDisabled = (): Failure =>
  new Failure('unprocessable', 'email_provider_disabled', 'Email logins are disabled');
export const phoneLoginsDisabled = (): Failure =>
  new Failure('unprocessable', 'phone_provider_disabled', 'Phone logins are disabled');
export const invalidCredentials = (): Failure =>
  new Failure('invalid', 'invalid_credentials', 'Invalid login credentials');
export const loginBanned = (): Failure => new Failure('invalid', 'user_banned', 'User is banned');
export const emailNotConfirmed = (): Failure =>
  new Failure('invalid', 'email_not_confirmed', 'Email not confirmed');
export const phoneNotConfirmed = (): Failure =>
  new Failure('invalid', 'phone_not_confirmed', 'Phone not confirmed');
export const loginAddressAmbiguous = (): Failure =>
  invalidValue('Only an email address or phone number should be provided on login.');
export const loginAddressMissing = (): Failure => invalidValue('missing email or phone');

// Codes of redirects
export const exchangeIncomplete = (): Failure =>
  invalidValue('invalid request: both auth code and code verifier should be non-empty');
export const authCodeUnknown = (): Failure =>
  new Failure('not-found', 'flow_state_not_found', 'invalid flow state, no valid flow state found');
export const authCodeExpired = (): Failure =>
  new Failure('unprocessable', 'flow_state_expired', 'invalid flow state, flow state has expired');
export const verifierDoesNotFit = (): Failure =>
  new Failure('invalid', 'bad_code_verifier', 'code challenge does not match previously saved code verifier');

// Refresh
export const refreshTokenNotFound = (): Failure =>
  new Failure('invalid', 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found');
export const refreshTokenReused = (): Failure =>
  new Failure('invalid', 'refresh_token_already_used', 'Invalid Refresh Token: Already Used');
export const refreshBanned = (): Failure =>
  new Failure('invalid', 'user_banned', 'Invalid Refresh Token: User Banned');
export const sessionExpired = (): Failure =>
  new Failure('invalid', 'session_expired', 'Invalid Refresh Token: Session Expired');
export const sessionInactive = (): Failure =>
  new Failure('invalid', 'session_expired', 'Invalid Refresh Token: Session Expired (Inactivity)');
export const sessionLow = (): Failure =>
  new Failure(
    'invalid',
    'session_expired',
    'Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)',
  );
export const sessionSuperseded = (): Failure =>
  new Failure(
    'invalid',
    'session_expired',
    'Invalid Refresh Token: Session Expired (Revoked by Newer Login)',
  );
