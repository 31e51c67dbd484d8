import * as failures from '../failures.ts';
import { argon2 } from '../outside/hashes/argon2.ts';
import { bcrypt } from '../outside/hashes/bcrypt.ts';
import { fbscrypt } from '../outside/hashes/fbscrypt.ts';

/** Whether somebody could sign in with the hash: it is of a known kind, whole, and of costs that a check may have. */
export function isPasswordHash(hash: string): boolean {
  return [argon2, bcrypt, fbscrypt].some((kind) => kind.read(hash) !== undefined);
}

/**
 * Refuses a password hash from elsewhere that nobody could ever sign in with: of another kind, damaged, or of costs
 * that no check may have.
 * @throws Failure `validation_failed`
 */
export function acceptPasswordHash(hash: string): void {
  if (!isPasswordHash(hash)) throw failures.passwordHashUnsupported();
}
