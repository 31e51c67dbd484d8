import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

export const signupDisabled = (): Failure =>
  new Failure('unprocessable', 'signup_disabled', 'Signups not allowed for this instance');
export const anonymousSignInsDisabled = (): Failure =>
  new Failure('unprocessable', 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled');
export const emailSignupsDisabled = (): Failure =>
  new Failure('invalid', 'email_provider_disabled', 'Email signups are disabled');
export const phoneSignupsDisabled = (): Failure =>
  new Failure('invalid', 'phone_provider_disabled', 'Phone signups are disabled');
export const userAlreadyExists = (): Failure =>
  new Failure('unprocessable', 'user_already_exists', 'User already registered');
export const weakPassword = (message: string, reasons: readonly string[]): Failure =>
  new Failure('unprocessable', 'weak_password', message, { body: { weak_password: { reasons } } });
export const signupPasswordMissing = (): Failure => invalidValue('Signup requires a valid password');
export const signupAddressAmbiguous = (): Failure =>
  invalidValue('Only an email address or phone number should be provided on signup.');
export const phoneSignupWithPkce = (): Failure => invalidValue('PKCE not supported for phone signups');
