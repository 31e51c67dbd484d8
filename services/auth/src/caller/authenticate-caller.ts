import type { AccessTokenClaims } from '@croft/access-token';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant, type Person } from '../rows.ts';
import { isBanned } from '../rules/users/ban.ts';
import * as users from '../store/users.ts';
import { isUuid, NIL_UUID, verifyBearer } from './verify-bearer.ts';

/** Who calls: the user of the access token, and the session it names. */
export interface Caller {
  person: Person;
  claims: AccessTokenClaims;
  /** Undefined for tokens that name no session. */
  sessionId: string | undefined;
}

/**
 * Accepts the bearer of an access token (§3.3 of the reference notes). One round trip.
 * @throws Failure in the order of that table
 */
export async function authenticateCaller(
  context: AuthContext,
  authorization: string | undefined,
): Promise<Caller> {
  const claims = verifyBearer(context, authorization);
  const { sub, session_id: sessionClaim = '' } = claims;
  if (sub === undefined || sub === '') throw failures.claimInvalid('missing sub claim');
  if (!isUuid(sub)) throw failures.subjectNotUuid();
  if (sessionClaim !== '' && !isUuid(sessionClaim)) {
    throw failures.claimInvalid('session_id claim must be a UUID');
  }
  const sessionId = sessionClaim === '' || sessionClaim === NIL_UUID ? undefined : sessionClaim;

  const found = await users.findByAccessToken(context.database.reads(), sub, sessionId ?? null);
  if (found === undefined) throw failures.callerDeleted();
  if (sessionId !== undefined && !found.hasSession) throw failures.callerSessionGone();
  if (isBanned(instant(found.user.banned_until), context.clock.now())) throw failures.userBanned();
  return { person: { user: found.user, identities: found.identities }, claims, sessionId };
}
