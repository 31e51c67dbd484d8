import { type AccessTokenClaims, InvalidAccessToken } from '@croft/access-token';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant, type Person } from '../rows.ts';
import { isBanned } from '../rules/ban.ts';
import * as users from '../store/users.ts';

/** Who calls: the user of the access token, and the session it names. */
export interface Caller {
  person: Person;
  claims: AccessTokenClaims;
  /** Undefined for tokens that name no session. */
  sessionId: string | undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NIL = '00000000-0000-0000-0000-000000000000';

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
  if (!UUID.test(sub)) throw failures.subjectNotUuid();
  if (sessionClaim !== '' && !UUID.test(sessionClaim)) {
    throw failures.claimInvalid('session_id claim must be a UUID');
  }
  const sessionId = sessionClaim === '' || sessionClaim === NIL ? undefined : sessionClaim;

  const found = await users.findByAccessToken(context.database.autocommit(), sub, sessionId ?? null);
  if (found === undefined) throw failures.callerDeleted();
  if (sessionId !== undefined && !found.hasSession) throw failures.callerSessionGone();
  if (isBanned(instant(found.user.banned_until), context.clock.now())) throw failures.userBanned();
  return { person: { user: found.user, identities: found.identities }, claims, sessionId };
}

function verifyBearer(context: AuthContext, authorization: string | undefined): AccessTokenClaims {
  const token = /^bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw failures.bearerTokenMissing();
  try {
    return context.accessTokens.verify(token);
  } catch (error) {
    if (error instanceof InvalidAccessToken) throw failures.accessTokenInvalid(error.message);
    throw error;
  }
}
