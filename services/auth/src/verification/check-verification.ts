import * as failures from '../failures.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { checkPhoneNumber } from '../rules/addresses/phone-number.ts';

/** The fields of POST /verify. */
export interface VerificationFields {
  type: string;
  token: string;
  tokenHash: string;
  email: string;
  phone: string;
  redirectTo: string;
}

/** What proves a mail was read: the token of its link, or its code together with the address. */
export type Proof = { link: string } | { code: string; address: string };

/** What is to be verified. */
export type CheckedVerification = Proof | { phone: string; code: string; type: PhoneType };

type PhoneType = 'sms' | 'phone_change';
const EMAIL_TYPES = ['signup', 'invite', 'recovery', 'magiclink', 'email_change', 'email'];

/**
 * The checks of POST /verify in the order of the contract's reference (§3.20). A `token` without an address counts as
 * a `token_hash`, as the contract shows it.
 * @throws Failure for the first check that fails
 */
export function checkVerification(fields: VerificationFields): CheckedVerification {
  const { type, token, tokenHash, email, phone } = fields;
  if (type === '') throw failures.verificationTypeMissing();
  if ((token === '') === (tokenHash === '')) {
    throw failures.tokenOrHashNeeded();
  }
  if (tokenHash !== '') {
    if (email !== '' || phone !== '' || fields.redirectTo !== '') {
      throw failures.hashStandsAlone();
    }
    return { link: checkLink(type, tokenHash) };
  }
  if (email !== '' && phone !== '') {
    throw failures.verifyAddressAmbiguous();
  }
  if (phone !== '') return { phone: checkPhoneNumber(phone), code: token, type: phoneType(type) };
  if (email === '') return { link: checkLink(type, token) };
  const address = checkEmail(email);
  if (!EMAIL_TYPES.includes(type) && !isPhoneType(type)) throw failures.verificationTypeUnsupported();
  return { code: token, address };
}

function checkLink(type: string, hash: string): string {
  if (!EMAIL_TYPES.includes(type)) throw failures.emailTypeInvalid();
  return hash;
}

function phoneType(type: string): PhoneType {
  if (!isPhoneType(type)) throw failures.verificationTypeUnsupported();
  return type;
}

function isPhoneType(type: string): type is PhoneType {
  return type === 'sms' || type === 'phone_change';
}

function checkEmail(email: string): string {
  try {
    return checkEmailAddress(email);
  } catch {
    throw failures.verifyEmailInvalid();
  }
}
