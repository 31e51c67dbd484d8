import { authenticateCaller, authenticateWith } from '../caller/authenticate-caller.ts';
import type { Origin } from '../caller/origin.ts';
import { isUuid } from '../caller/verify-bearer.ts';
import type { AuthContext } from '../context.ts';
import { sessionUnknown } from '../failures.ts';
import { auditEntry } from '../rules/audit.ts';
import { livingSessions } from '../sessions/session-limits.ts';
import * as sessions from '../store/sessions.ts';

/** Nobody looks through more, and every session is a line of whoever signs in. */
const MAX_SESSIONS = 100;

/** The caller's sessions, newest first, and which of them calls. One round trip. */
export async function listSessions(
  context: AuthContext,
  authorization: string | undefined,
): Promise<{ sessions: sessions.OpenSession[]; current: string | undefined }> {
  const living = livingSessions(context.settings, context.clock.now());
  const { caller, found } = await authenticateWith(
    context,
    authorization,
    (tx, userId, sessionId) => sessions.findByAccessToken(tx, userId, sessionId, living, MAX_SESSIONS),
    context.database.autocommit(),
  );
  return { sessions: found.sessions, current: caller.sessionId };
}

/**
 * Ends a session of the caller, the one that calls included. Two round trips.
 * @throws Failure `session_not_found`, also for somebody else's
 */
export async function endSession(
  context: AuthContext,
  authorization: string | undefined,
  sessionId: string,
  origin: Origin,
): Promise<void> {
  const { person } = await authenticateCaller(context, authorization);
  const trace = { ...origin, audit: [auditEntry(person.user, 'logout')] };
  const tx = context.database.autocommit();
  const ended = isUuid(sessionId) && (await sessions.endOne(tx, person.user.id, sessionId, trace));
  if (!ended) throw sessionUnknown();
}
