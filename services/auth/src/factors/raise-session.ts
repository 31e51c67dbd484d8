import { randomBytes } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { FactorType } from '../rows.ts';
import { METHOD_OF } from '../rules/factors/assurance.ts';
import { userAfterProof } from '../rules/factors/enrolment.ts';
import { FIRST_SECRET_BYTES, hashOf } from '../rules/tokens/refresh-token.ts';
import { type IssuedSession, issueTokens } from '../sessions/issue-tokens.ts';
import * as raisedSessions from '../store/raised-sessions.ts';
import * as sessions from '../store/sessions.ts';
import { factorEntry } from './factor-entry.ts';
import type { FactorOwner } from './factor-owner.ts';

/** A right answer. */
export interface RightAnswer {
  factor: { id: string; type: FactorType };
  challengeId: string | null;
  recoveryCode: string | null;
  step: number | null;
  wasCounted: boolean;
  origin: Origin;
}

/**
 * Raises the session of the one who gave it, and hands out new tokens for it: the refresh token begins anew, so that
 * one that was stolen before is worth nothing. One round trip.
 * @returns undefined when somebody was first with this answer, or it does not hold any more
 */
export async function raiseSession(
  context: AuthContext,
  owner: FactorOwner,
  answer: RightAnswer,
): Promise<IssuedSession | undefined> {
  const { factor, origin, ...proof } = answer;
  const { sessionId, person } = owner;
  const { user } = person;
  const secret = randomBytes(FIRST_SECRET_BYTES);
  const tx = context.database.autocommit();
  const method = METHOD_OF[factor.type];
  const traits = { factor_type: factor.type, challenge_id: proof.challengeId, valid: true };
  const raised = await raisedSessions.raise(tx, {
    ...proof,
    userId: user.id,
    sessionId,
    aal: owner.aal,
    factorId: factor.id,
    type: factor.type,
    method,
    tokenHash: hashOf({ sessionId, counter: 0, secret }),
    trace: { ...origin, audit: [factorEntry(user, 'verification_attempted', factor.id, traits)] },
  });
  if (raised === undefined) return undefined;
  const amr = [{ method, timestamp: Math.floor(tx.now.getTime() / 1000) }, ...raised.amr];
  const proven = { ...person, user: userAfterProof(user, factor, tx.now) };
  const session = { id: sessionId, aal: 'aal2', amr };
  const refreshToken = { sessionId, counter: raised.counter, secret };
  try {
    return await issueTokens(context, proven, session, refreshToken, tx.now, { method, origin });
  } catch (error) {
    // Forbidden by a hook: nobody has a refresh token of the session any more. From one that is out of order the person
    // comes back with the next code and the access token of before.
    if (error instanceof failures.RefusedByHook)
      await sessions.endOne(context.database.autocommit(), user.id, sessionId, { ...origin, audit: [] });
    throw error;
  }
}
