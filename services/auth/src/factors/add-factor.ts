import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { lowerAal } from '../rules/factors/assurance.ts';
import { planEnrolment } from '../rules/factors/enrolment.ts';
import type { Trace } from '../store/audit-log.ts';
import * as factors from '../store/factors.ts';
import type { FactorOwner } from './factor-owner.ts';

/** So often others may change the same user's factors meanwhile; then the request is answered 409. */
const ATTEMPTS = 5;

/**
 * Adds a factor, if it may be: decided on the factors as they were read, and written only while they are still those.
 * One round trip, and one more for each change that came between.
 * @throws Failure as `planEnrolment`
 */
export async function addFactor(
  context: AuthContext,
  owner: FactorOwner,
  factor: factors.NewFactor,
  trace: Trace,
): Promise<void> {
  const { settings, database } = context;
  const limits = {
    most: settings.MFA_MAX_ENROLLED_FACTORS,
    mostVerified: settings.MFA_MAX_VERIFIED_FACTORS,
    expiryMs: settings.MFA_FACTOR_EXPIRY_DURATION,
  };
  const { user } = owner.person;
  let seen = { factors: user.factors, aal: owner.aal };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tx = database.autocommit();
    const gone = planEnrolment(seen.factors, seen.aal, factor, limits, tx.now);
    const wanted = { userId: user.id, sessionId: owner.sessionId, ...seen, gone, factor, trace };
    const enrolled = await factors.enrol(tx, wanted);
    if (enrolled.done) return;
    if (enrolled.factors === null) throw failures.callerDeleted();
    if (enrolled.aal === null) throw failures.callerSessionGone();
    seen = { factors: enrolled.factors, aal: lowerAal(owner.aal, enrolled.aal) };
  }
  throw failures.tryAgain();
}
