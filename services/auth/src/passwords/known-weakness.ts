import type { AuthContext } from '../context.ts';
import { findWeakness, type Weakness } from '../rules/passwords/password-strength.ts';
import { passwordPolicy } from '../settings.ts';

/** Who signs in does not wait longer to hear of a leak; the next sign-in tells it. */
const PATIENCE_MS = 1_000;

/**
 * What today's policy finds wanting in a password that was right, a leak included if the settings ask about leaks.
 * Ask only after the password was right: of others nothing leaves the house. It never refuses a sign-in.
 */
export async function knownWeakness(context: AuthContext, password: string): Promise<Weakness | undefined> {
  const leaked = await isLeaked(context, password);
  return findWeakness(password, passwordPolicy(context.settings), leaked);
}

async function isLeaked({ outside, log }: AuthContext, password: string): Promise<boolean> {
  if (outside.leaked === undefined) return false;
  try {
    return await outside.leaked.isLeaked(password, AbortSignal.timeout(PATIENCE_MS));
  } catch (error) {
    log.warn({ err: error }, 'a password could not be checked for leaks at sign-in');
    return false;
  }
}
