import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

export const codeInvalid = (): Failure =>
  new Failure('forbidden', 'otp_expired', 'Token has expired or is invalid');
export const linkInvalid = (): Failure =>
  new Failure('forbidden', 'otp_expired', 'Email link is invalid or has expired');
export const verifyEmailInvalid = (): Failure =>
  new Failure('unprocessable', 'validation_failed', 'Invalid email format');
export const verificationTypeMissing = (): Failure => invalidValue('Verify requires a verification type');
/** Neither or both of them. */
export const tokenOrHashNeeded = (): Failure =>
  invalidValue('Verify requires either a token or a token hash');
export const verifyAddressAmbiguous = (): Failure =>
  invalidValue('Only an email address or phone number should be provided on verify');
export const hashStandsAlone = (): Failure => invalidValue('Only the token_hash and type should be provided');
/** A type that no token hash has. */
export const emailTypeInvalid = (): Failure => invalidValue('Invalid email verification type');
export const verificationTypeUnsupported = (): Failure => invalidValue('Unsupported verification type');
