import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { FactorRow } from '../rows.ts';
import { FACTOR_METHODS } from '../rules/factors/assurance.ts';
import * as factors from '../store/factors.ts';
import { factorEntry } from './factor-entry.ts';
import { authenticateOwner, type FactorOwner } from './factor-owner.ts';

/**
 * Takes a factor of the caller away (DELETE /factors/:factor_id). The sessions it had raised fall back. Two round trips.
 * @returns its id
 * @throws Failure `mfa_factor_not_found`; `insufficient_aal` for one that was proven and a session that did not show one
 */
export async function unenrolFactor(
  context: AuthContext,
  authorization: string | undefined,
  factorId: string,
  origin: Origin,
): Promise<string> {
  const { owner } = await authenticateOwner(context, authorization);
  const factor = factorsOf(owner).find((one) => one.id === factorId.toLowerCase());
  return await remove(context, owner, factor, origin);
}

/**
 * Takes all recovery codes of the caller away (DELETE /factors/recovery-codes); as above.
 */
export async function removeRecoveryCodes(
  context: AuthContext,
  authorization: string | undefined,
  origin: Origin,
): Promise<string> {
  const { owner } = await authenticateOwner(context, authorization);
  const set = factorsOf(owner).find((one) => one.factor_type === 'recovery_code');
  return await remove(context, owner, set, origin);
}

function factorsOf({ person }: FactorOwner): readonly FactorRow[] {
  return person.user.factors;
}

async function remove(
  context: AuthContext,
  owner: FactorOwner,
  factor: FactorRow | undefined,
  origin: Origin,
): Promise<string> {
  if (factor === undefined) throw failures.factorNotFound();
  if (factor.status === 'verified' && owner.aal !== 'aal2') throw failures.unenrolmentNeedsAal2();
  const { user } = owner.person;
  const { factor_type, status: factor_status } = factor;
  const traits = { factor_type, factor_status, session_id: owner.sessionId };
  const gone = await factors.unenrol(context.database.autocommit(), {
    userId: user.id,
    factorId: factor.id,
    asker: owner,
    methods: FACTOR_METHODS,
    trace: { ...origin, audit: [factorEntry(user, 'factor_unenrolled', factor.id, traits)] },
  });
  // Somebody else took it away, or proved it, or ended the session.
  if (!gone) throw failures.tryAgain();
  return factor.id;
}
