import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import { checkPhoneSignUp } from '../phone/sign-up-with-phone.ts';
import type { CodeChallenge } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { readChallenge } from '../rules/codes/code-challenge.ts';

/** What of a sign-up is checked before anything is looked up; the empty text means none. */
export interface SignUpFields {
  email: string;
  phone: string;
  password: string;
  channel: string;
  code_challenge: string;
  code_challenge_method: string;
}

/** By what somebody wants to be known: an address as it is stored, a number, or nothing. */
export type SignUpDoor = { email: string; challenge: CodeChallenge | undefined } | 'phone' | 'anonymous';

/**
 * The checks of POST /signup in the order of the contract's reference (§3.20).
 * @throws Failure for the first check that fails
 */
export async function checkSignUp(context: AuthContext, fields: SignUpFields): Promise<SignUpDoor> {
  const { settings } = context;
  const { email, phone, password } = fields;
  const isAnonymous = email === '' && phone === '';
  if (isAnonymous && !settings.EXTERNAL_ANONYMOUS_USERS_ENABLED) throw failures.anonymousSignInsDisabled();
  if (settings.DISABLE_SIGNUP) throw failures.signupDisabled();
  if (isAnonymous) return 'anonymous';
  if (password === '') throw failures.signupPasswordMissing();
  await acceptNewPassword(context, password);
  if (email !== '' && phone !== '') throw failures.signupAddressAmbiguous();
  if (email === '') {
    checkPhoneSignUp(fields, settings);
    return 'phone';
  }
  const challenge = readChallenge(fields);
  if (!settings.EXTERNAL_EMAIL_ENABLED) throw failures.emailSignupsDisabled();
  return { email: checkEmailAddress(email), challenge };
}
