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

// Refresh
export const refreshTokenNotFound = (): Failure =>
  new Failure('invalid', 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found');
export const refreshTokenReused = (): Failure =>
  new Failure('invalid', 'refresh_token_already_used', 'Invalid Refresh Token: Already Used');
export const refreshBanned = (): Failure =>
  new Failure('invalid', 'user_banned', 'Invalid Refresh Token: User Banned');
export const sessionExpired = (): Failure =>
  new Failure('invalid', 'session_expired', 'Invalid Refresh Token: Session Expired');
