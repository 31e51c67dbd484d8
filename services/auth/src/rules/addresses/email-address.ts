import { invalidValue } from '../../failures.ts';

/** The grammar of HTML's e-mail field: it has no place for quotes, blanks or line ends, hence none for a header. */
const ADDRESS =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const MAX_BYTES = 255;

/**
 * The address as it is stored: lower case (as in GoTrue).
 * @throws Failure `validation_failed` saying what is wrong
 */
export function checkEmailAddress(address: string): string {
  if (address === '') throw invalidValue('An email address is required');
  if (Buffer.byteLength(address) > MAX_BYTES) throw invalidValue('An email address is too long');
  if (!ADDRESS.test(address)) throw invalidValue('Unable to validate email address: invalid format');
  return address.toLowerCase();
}
