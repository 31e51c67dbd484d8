import type { AccessTokenClaims } from '@croft/access-token';
import type { Reader } from '@croft/sql';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant, type Person } from '../rows.ts';
import { lowerAal } from '../rules/factors/assurance.ts';
import { isBanned } from '../rules/users/ban.ts';
import * as users from '../store/users.ts';
import { isUuid, NIL_UUID, verifyBearer } from './verify-bearer.ts';

/** Who calls: the user of the access token, and the session it names. */
export interface Caller {
  person: Person;
  claims: AccessTokenClaims;
  /** Undefined for tokens that name no session. */
  sessionId: string | undefined;
  /** How strongly the token and that session are proven, the lower of both; `aal1` without a session. */
  aal: string;
}

/** What the look-up of a caller finds; it may be more. */
type Found = NonNullable<Awaited<ReturnType<typeof users.findByAccessToken>>>;

/**
 * Accepts the bearer of an access token (as in GoTrue). One round trip.
 * @throws Failure in the order of that table
 */
export async function authenticateCaller(
  context: AuthContext,
  authorization: string | undefined,
): Promise<Caller> {
  return (await authenticateWith(context, authorization, users.findByAccessToken)).caller;
}

/**
 * The same, with a look-up that brings along what the caller asks for.
 * @param tx where it is looked up; what may take long is not for the connections that everybody shares
 * @throws Failure in the order of that table
 */
export async function authenticateWith<F extends Found>(
  context: AuthContext,
  authorization: string | undefined,
  find: (tx: Reader, userId: string, sessionId: string | null) => Promise<F | undefined>,
  tx: Reader = context.database.reads(),
): Promise<{ caller: Caller; found: F }> {
  const claims = verifyBearer(context, authorization);
  const { sub, session_id: sessionClaim = '' } = claims;
  if (sub === undefined || sub === '') throw failures.claimInvalid('missing sub claim');
  if (!isUuid(sub)) throw failures.subjectNotUuid();
  if (sessionClaim !== '' && !isUuid(sessionClaim)) {
    throw failures.claimInvalid('session_id claim must be a UUID');
  }
  const sessionId = sessionClaim === '' || sessionClaim === NIL_UUID ? undefined : sessionClaim;

  const found = await find(tx, sub, sessionId ?? null);
  if (found === undefined) throw failures.callerDeleted();
  if (sessionId !== undefined && !found.hasSession) throw failures.callerSessionGone();
  if (isBanned(instant(found.user.banned_until), context.clock.now())) throw failures.userBanned();
  const person = { user: found.user, identities: found.identities };
  return { caller: { person, claims, sessionId, aal: lowerAal(claims.aal, found.aal ?? 'aal1') }, found };
}
