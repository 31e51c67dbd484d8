import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant } from '../rows.ts';
import { isLow, lowerAal } from '../rules/factors/assurance.ts';
import { isBanned } from '../rules/users/ban.ts';
import { livingSessions } from '../sessions/session-limits.ts';
import * as administrators from '../store/administrators.ts';
import { isUuid, NIL_UUID, verifyBearer } from './verify-bearer.ts';

/** Who administrates. */
export interface Administrator {
  /** One of `JWT_ADMIN_ROLES`. */
  role: string;
  /** The user, if the token speaks of one who is there; tokens made by hand for a role need not. */
  sub: string | undefined;
  sessionId: string | undefined;
}

/**
 * Accepts the bearer of an administrator's token (as in GoTrue). A token of a session is worth no more than its user: deleted
 * or signed out, and only while the user still has a role that may administrate; and who has a second factor administrates
 * by a session that showed it: a thief with the password would take the factor away, or set another password. One without, as
 * people make by hand for a role, may say any subject (§3.3); a user who is banned is refused in either case. No round trip for
 * a token without a user, one for others.
 * @throws Failure in the order of that table
 */
export async function authenticateAdmin(
  context: AuthContext,
  authorization: string | undefined,
): Promise<Administrator> {
  const { sub, session_id: session = '', role = '', aal } = verifyBearer(context, authorization);
  const roles = context.settings.JWT_ADMIN_ROLES;
  if (!roles.includes(role)) throw failures.notAdmin();

  const sessionId = session === '' || session === NIL_UUID ? undefined : session;
  if (sessionId !== undefined && !isUuid(sessionId)) {
    throw failures.claimInvalid('session_id claim must be a UUID');
  }
  // The nil UUID is nobody; other texts come from makers of tokens that want one, whatever it says.
  const userId = sub !== undefined && isUuid(sub) && sub !== NIL_UUID ? sub : undefined;
  if (userId === undefined) {
    if (sessionId !== undefined) throw failures.adminSessionExpired();
    return { role, sub: undefined, sessionId: undefined };
  }
  const living = livingSessions(context.settings, context.clock.now());
  const found = await administrators.find(context.database.autocommit(), userId, sessionId ?? null, living);
  if (found === undefined) {
    if (sessionId !== undefined) throw failures.callerDeleted();
    return { role, sub: undefined, sessionId };
  }
  if (sessionId !== undefined && found.aal === null) throw failures.adminSessionExpired();
  if (isBanned(instant(found.bannedUntil), context.clock.now())) throw failures.userBanned();
  // Who lost the role must not keep it for as long as the token lives.
  if (sessionId !== undefined && !roles.includes(found.role ?? '')) throw failures.notAdmin();
  if (found.aal !== null && isLow(lowerAal(aal, found.aal), found.factors)) throw failures.adminNeedsAal2();
  return { role, sub: userId, sessionId };
}
