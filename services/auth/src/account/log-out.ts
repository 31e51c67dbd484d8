import type { Caller } from '../caller/authenticate-caller.ts';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { logoutScopeUnsupported } from '../failures.ts';
import { auditEntry } from '../rules/audit.ts';
import * as sessions from '../store/sessions.ts';

/** Which sessions a sign-out ends, by the `scope` of the request. */
const SCOPES: Readonly<Record<string, (sessionId: string) => { only?: string; except?: string }>> = {
  global: () => ({}),
  local: (sessionId) => ({ only: sessionId }),
  others: (sessionId) => ({ except: sessionId }),
};

/**
 * Ends sessions of the caller (POST /logout), and with them their refresh tokens. Access tokens live on until they
 * expire, wherever only their signature is looked at.
 * @throws Failure `validation_failed` for an unknown scope
 */
export async function logOut(
  context: AuthContext,
  caller: Caller,
  scope: string,
  origin: Origin,
): Promise<void> {
  const endedBy = Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined;
  if (endedBy === undefined) throw logoutScopeUnsupported(scope);
  const { user } = caller.person;
  // A token without a session cannot tell its own from the others.
  const ended = caller.sessionId === undefined ? {} : endedBy(caller.sessionId);
  const trace = { ...origin, audit: [auditEntry(user, 'logout')] };
  await sessions.end(context.database.autocommit(), { userId: user.id, ...ended }, trace);
}
