import * as failures from '../failures.ts';
import { checkEmailAddress } from '../rules/email-address.ts';

/** The fields of POST /verify. */
export interface VerificationFields {
  type: string;
  token: string;
  tokenHash: string;
  email: string;
  phone: string;
  redirectTo: string;
}

/** What is to be verified: the hash a link carries, or a code together with its address. */
export type Proof = { hash: string } | { code: string; email: string };

/** Types a phone number is verified with; no code of theirs is ever sent while phone sign-in is off. */
const PHONE_TYPES = ['sms', 'phone_change'];
const EMAIL_TYPES = ['signup', 'invite', 'recovery', 'magiclink', 'email_change', 'email'];

/**
 * The checks of POST /verify in the order of the contract's reference (§3.20). A `token` without an address counts as
 * a `token_hash`, as the contract shows it.
 * @throws Failure for the first check that fails
 */
export function checkVerification(fields: VerificationFields): Proof {
  const { type, token, tokenHash, email, phone } = fields;
  if (type === '') throw failures.invalidValue('Verify requires a verification type');
  if ((token === '') === (tokenHash === '')) {
    throw failures.invalidValue('Verify requires either a token or a token hash');
  }
  if (tokenHash !== '') {
    if (email !== '' || phone !== '' || fields.redirectTo !== '') {
      throw failures.invalidValue('Only the token_hash and type should be provided');
    }
    return { hash: checkLink(type, tokenHash) };
  }
  if (email !== '' && phone !== '') {
    throw failures.invalidValue('Only an email address or phone number should be provided on verify');
  }
  if (phone !== '') return checkPhone(type, phone);
  if (email === '') return { hash: checkLink(type, token) };
  if (!EMAIL_TYPES.includes(type) && !PHONE_TYPES.includes(type)) {
    throw failures.invalidValue('Unsupported verification type');
  }
  return { code: token, email: checkEmail(email) };
}

function checkLink(type: string, hash: string): string {
  if (!EMAIL_TYPES.includes(type)) throw failures.invalidValue('Invalid email verification type');
  return hash;
}

function checkPhone(type: string, phone: string): never {
  if (!/^[1-9]\d{1,14}$/.test(phone.replace(/^\+/, '').replaceAll(' ', ''))) {
    throw failures.invalidValue('Invalid phone number format (E.164 required)');
  }
  if (!PHONE_TYPES.includes(type)) throw failures.invalidValue('Unsupported verification type');
  throw failures.codeInvalid();
}

function checkEmail(email: string): string {
  try {
    return checkEmailAddress(email);
  } catch {
    throw failures.verifyEmailInvalid();
  }
}
