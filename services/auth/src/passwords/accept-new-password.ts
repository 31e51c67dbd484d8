import type { AuthContext } from '../context.ts';
import { leakCheckUnavailable } from '../failures/passwords.ts';
import { checkNewPassword, isTooLong } from '../rules/passwords/password-strength.ts';
import { passwordPolicy } from '../settings.ts';

/**
 * Refuses a password somebody wants to have from now on if it does not meet the policy or is known from a leak. It
 * may leave the process, so it comes before any transaction.
 * @throws Failure `validation_failed` when too long, `weak_password` with all reasons, `hibp_unavailable` when
 * leaks cannot be asked about and the operator wants no password then
 */
export async function acceptNewPassword(
  context: AuthContext,
  password: string,
  signal?: AbortSignal,
): Promise<void> {
  const leaked = !isTooLong(password) && (await isLeaked(context, password, signal));
  checkNewPassword(password, passwordPolicy(context.settings), leaked);
}

async function isLeaked(
  { outside, settings, log }: AuthContext,
  password: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (outside.leaked === undefined) return false;
  try {
    return await outside.leaked.isLeaked(password, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (settings.PASSWORD_HIBP_FAIL_CLOSED) throw leakCheckUnavailable(error);
    log.warn({ err: error }, 'a new password could not be checked for leaks');
    return false;
  }
}
