import { invalidValue, weakPassword } from '../../failures.ts';

/** What a password must have. */
export interface PasswordPolicy {
  minBytes: number;
  /** At least one character of each set. */
  requiredCharacters: readonly string[];
}

/** What a password lacks, in the words and the machine-readable reasons of the protocol. */
export interface Weakness {
  message: string;
  reasons: ('length' | 'characters' | 'pwned')[];
}

const FLOOR_BYTES = 6;
/** bcrypt's limit, kept so that every deployment refuses the same passwords whichever hash it uses. */
const MAX_BYTES = 72;

/** Whether no password may be like this, whatever the policy. */
export function isTooLong(password: string): boolean {
  return Buffer.byteLength(password) > MAX_BYTES;
}

/**
 * Refuses a new password that does not meet the policy (as in GoTrue).
 * @param isLeaked whether it is known from a leak
 * @throws Failure `validation_failed` when too long, `weak_password` with all reasons otherwise
 */
export function checkNewPassword(password: string, policy: PasswordPolicy, isLeaked = false): void {
  if (isTooLong(password)) throw invalidValue(`Password cannot be longer than ${MAX_BYTES} characters`);
  const weakness = findWeakness(password, policy, isLeaked);
  if (weakness !== undefined) throw weakPassword(weakness.message, weakness.reasons);
}

/** What the password lacks, or undefined; sign-in reports it for passwords older than the policy. */
export function findWeakness(
  password: string,
  policy: PasswordPolicy,
  isLeaked = false,
): Weakness | undefined {
  const weakness: Weakness = { message: '', reasons: [] };
  const messages: string[] = [];
  const minimum = Math.max(policy.minBytes, FLOOR_BYTES);
  if (Buffer.byteLength(password) < minimum) {
    weakness.reasons.push('length');
    messages.push(`Password should be at least ${minimum} characters.`);
  }
  if (
    !policy.requiredCharacters.every((set) =>
      Array.from(set).some((character) => password.includes(character)),
    )
  ) {
    weakness.reasons.push('characters');
    messages.push(
      `Password should contain at least one character of each: ${policy.requiredCharacters.join(', ')}.`,
    );
  }
  if (isLeaked) {
    weakness.reasons.push('pwned');
    messages.push('Password is known to be weak and easy to guess, please choose a different one.');
  }
  return messages.length === 0 ? undefined : { ...weakness, message: messages.join(' ') };
}
