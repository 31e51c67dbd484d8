import type { Reader } from '@croft/sql';
import { authenticateWith, type Caller } from '../caller/authenticate-caller.ts';
import { isUuid } from '../caller/verify-bearer.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import * as factors from '../store/factors.ts';

/** Somebody who has, or wants, a second factor: a user with an address or a number, and the session that shows it. */
export interface FactorOwner extends Caller {
  sessionId: string;
}

/**
 * Accepts the bearer of an access token for the endpoints of factors, with the factor and the challenge the request names. One
 * round trip.
 * @throws Failure as `authenticateCaller`, `no_authorization` for anonymous users, `session_not_found` for a token
 *   without a session: there would be nothing to raise
 */
export async function authenticateOwner(
  context: AuthContext,
  authorization: string | undefined,
  named: { factorId?: string; challengeId?: string; ip?: string | null } = {},
): Promise<{ owner: FactorOwner; factor: factors.AnsweredFactor | null }> {
  const asked = {
    factorId: idOrNull(named.factorId),
    challengeId: idOrNull(named.challengeId),
    ip: named.ip ?? null,
  };
  const look = (tx: Reader, userId: string, sessionId: string | null) =>
    factors.findByAccessToken(tx, { userId, sessionId }, asked);
  const { caller, found } = await authenticateWith(context, authorization, look);
  return { owner: ownerOf(caller), factor: found.factor };
}

/** @throws Failure for those who cannot have a factor, as above */
export function ownerOf(caller: Caller): FactorOwner {
  if (caller.person.user.is_anonymous) throw failures.anonymousFactors();
  const { sessionId } = caller;
  if (sessionId === undefined) throw failures.callerSessionGone();
  return { ...caller, sessionId };
}

function idOrNull(text = ''): string | null {
  return isUuid(text) ? text.toLowerCase() : null;
}
