import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

export const anonymousFactors = (): Failure =>
  new Failure('forbidden', 'no_authorization', 'Anonymous user not allowed to perform these actions');

// Enrolment
export const totpEnrolmentOff = (): Failure =>
  new Failure('unprocessable', 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP');
export const phoneEnrolmentOff = (): Failure =>
  new Failure('unprocessable', 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone');
export const webauthnEnrolmentOff = (): Failure =>
  new Failure('unprocessable', 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn');
export const factorTypeUnknown = (): Failure =>
  invalidValue('factor_type needs to be totp, phone, or webauthn');
export const factorPhoneMissing = (): Failure => invalidValue('Phone number required to enroll Phone factor');
export const factorNameTaken = (name: string): Failure =>
  new Failure(
    'unprocessable',
    'mfa_factor_name_conflict',
    `A factor with the friendly name ${JSON.stringify(name)} for this user already exists`,
  );
export const factorPhoneTaken = (): Failure =>
  new Failure(
    'unprocessable',
    'mfa_verified_factor_exists',
    'A verified phone factor already exists, unenroll the existing factor to continue',
  );
export const tooManyFactors = (): Failure =>
  new Failure(
    'unprocessable',
    'too_many_enrolled_mfa_factors',
    'Maximum number of enrolled factors reached, unenroll to continue',
  );
export const tooManyVerifiedFactors = (): Failure =>
  new Failure(
    'unprocessable',
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  );

// How well the session is proven; the protocol has a status of its own for each
export const enrolmentNeedsAal2 = (): Failure =>
  new Failure('forbidden', 'insufficient_aal', 'AAL2 required to enroll a new factor');
export const unenrolmentNeedsAal2 = (): Failure =>
  new Failure('unprocessable', 'insufficient_aal', 'AAL2 required to unenroll verified factor');
export const changeNeedsAal2 = (): Failure =>
  new Failure(
    'unauthenticated',
    'insufficient_aal',
    'AAL2 session is required to update email or password when MFA is enabled.',
  );
export const adminNeedsAal2 = (): Failure =>
  new Failure(
    'forbidden',
    'insufficient_aal',
    'AAL2 session is required to administrate when MFA is enabled.',
  );
export const recoveryCodesNeedAal2 = (): Failure =>
  new Failure('forbidden', 'insufficient_aal', 'AAL2 required to manage recovery codes');

// Challenge and verification
/** Also one of somebody else: nobody is told which there are. */
export const factorNotFound = (): Failure =>
  new Failure('not-found', 'mfa_factor_not_found', 'Factor not found');
export const challengeNotFound = (): Failure =>
  new Failure('unprocessable', 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found');
export const challengeFromElsewhere = (): Failure =>
  new Failure('unprocessable', 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.');
export const challengeExpired = (id: string): Failure =>
  new Failure(
    'unprocessable',
    'mfa_challenge_expired',
    `MFA challenge ${id} has expired, verify against another challenge or create a new challenge.`,
  );
export const factorCodeMissing = (): Failure => invalidValue('Code needs to be non-empty');
export const totpCodeInvalid = (): Failure =>
  new Failure('unprocessable', 'mfa_verification_failed', 'Invalid TOTP code entered');
export const phoneCodeInvalid = (): Failure =>
  new Failure('unprocessable', 'mfa_verification_failed', 'Invalid MFA Phone code entered');
export const totpVerificationOff = (): Failure =>
  new Failure('unprocessable', 'mfa_totp_verify_not_enabled', 'MFA verification is disabled for TOTP');
export const phoneVerificationOff = (): Failure =>
  new Failure('unprocessable', 'mfa_phone_verify_not_enabled', 'MFA verification is disabled for Phone');
/** A factor that came from another service. */
export const webauthnVerificationOff = (): Failure =>
  new Failure(
    'unprocessable',
    'mfa_webauthn_verify_not_enabled',
    'MFA verification is disabled for WebAuthn',
  );
/** Whether the code was right is not said, nor looked at. */
export const tooManyWrongCodes = (retryAfterSeconds: number): Failure =>
  new Failure(
    'exhausted',
    'over_request_rate_limit',
    `Too many wrong codes, no further one is accepted for ${retryAfterSeconds} seconds`,
    { retryAfterSeconds },
  );

// Recovery codes
export const recoveryCodesOff = (): Failure =>
  new Failure('unprocessable', 'mfa_recovery_codes_enroll_not_enabled', 'Recovery codes are disabled');
export const recoveryVerificationOff = (): Failure =>
  new Failure('unprocessable', 'mfa_recovery_codes_verify_not_enabled', 'Recovery codes are disabled');
export const recoveryCodesStandAlone = (): Failure =>
  new Failure(
    'unprocessable',
    'mfa_recovery_codes_sole_factor',
    'Recovery codes need another verified factor',
  );
export const recoveryCodesExist = (): Failure =>
  new Failure(
    'unprocessable',
    'mfa_verified_factor_exists',
    'Recovery codes exist already, regenerate them to replace them',
  );
export const recoveryCodeInvalid = (): Failure =>
  new Failure('unprocessable', 'mfa_verification_failed', 'Invalid recovery code entered');
/** Its place has neither a challenge nor a code of its own. */
export const recoveryCodesElsewhere = (): Failure =>
  invalidValue('Recovery codes are verified at /factors/recovery-codes/verify');
