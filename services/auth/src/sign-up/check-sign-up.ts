import * as failures from '../failures.ts';
import { checkEmailAddress } from '../rules/email-address.ts';
import { checkNewPassword } from '../rules/password-strength.ts';
import { type AuthSettings, passwordPolicy } from '../settings.ts';

/** What of a sign-up is checked before anything is looked up. */
export interface SignUpFields {
  email: string;
  phone: string;
  password: string;
  codeChallenge: string;
}

/**
 * The checks of POST /signup in the order of the contract's reference (§3.20).
 * @returns the address as it is stored
 * @throws Failure for the first check that fails
 */
export function checkSignUp(fields: SignUpFields, settings: AuthSettings): string {
  const { email, phone, password } = fields;
  if (email === '' && phone === '') throw failures.anonymousSignInsDisabled();
  if (settings.DISABLE_SIGNUP) throw failures.signupDisabled();
  if (password === '') throw failures.invalidValue('Signup requires a valid password');
  checkNewPassword(password, passwordPolicy(settings));
  if (email !== '' && phone !== '') {
    throw failures.invalidValue('Only an email address or phone number should be provided on signup.');
  }
  if (email === '') throw failures.phoneSignupsDisabled();
  // Mailing a link without it would quietly take away the protection the client asked for.
  if (fields.codeChallenge !== '') throw failures.invalidValue('PKCE flow is not available');
  if (!settings.EXTERNAL_EMAIL_ENABLED) throw failures.emailSignupsDisabled();
  return checkEmailAddress(email);
}
