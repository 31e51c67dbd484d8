import { Failure } from '@croft/failure';
import type { MetadataKind } from '../rows.ts';
import { invalidValue } from './request.ts';

export const emailTaken = (): Failure =>
  new Failure('unprocessable', 'email_exists', 'A user with this email address has already been registered');
export const phoneTaken = (): Failure =>
  new Failure('unprocessable', 'phone_exists', 'A user with this phone number has already been registered');
export const appMetadataNeedsAdmin = (): Failure =>
  new Failure('forbidden', 'not_admin', 'Updating app_metadata requires admin privileges');
export const anonymousPassword = (): Failure =>
  new Failure(
    'unprocessable',
    'validation_failed',
    'Updating password of an anonymous user without an email or phone is not allowed',
  );
export const userManagedBySso = (): Failure =>
  new Failure(
    'unprocessable',
    'user_sso_managed',
    'Updating email, phone, password of a SSO account only possible via SSO',
  );
export const samePassword = (): Failure =>
  new Failure('unprocessable', 'same_password', 'New password should be different from the old password.');

// The present password
export const currentPasswordRequired = (): Failure =>
  new Failure('invalid', 'current_password_required', 'Current password required when setting new password.');
export const currentPasswordInvalid = (): Failure =>
  new Failure('invalid', 'current_password_invalid', 'Current password is invalid.');

// Reauthentication
export const reauthenticationNeeded = (): Failure =>
  new Failure('invalid', 'reauthentication_needed', 'Password update requires reauthentication');
export const reauthenticationInvalid = (): Failure =>
  new Failure('unprocessable', 'reauthentication_not_valid', 'Nonce has expired or is invalid');
export const reauthenticationNeedsAddress = (): Failure =>
  invalidValue('Reauthentication requires the user to have an email or a phone number');
export const ownEmailNotConfirmed = (): Failure =>
  new Failure('unprocessable', 'email_not_confirmed', 'Please verify your email first.');
export const ownPhoneNotConfirmed = (): Failure =>
  new Failure('unprocessable', 'phone_not_confirmed', 'Please verify your phone first.');

export const logoutScopeUnsupported = (scope: string): Failure =>
  invalidValue(`Unsupported logout scope ${JSON.stringify(scope)}`);
export const sessionUnknown = (): Failure =>
  new Failure('not-found', 'session_not_found', 'Session not found');
export const metadataTooLarge = (kind: MetadataKind, limitBytes: number): Failure =>
  new Failure('invalid', 'validation_failed', `${kind} cannot be larger than ${limitBytes} bytes`);
