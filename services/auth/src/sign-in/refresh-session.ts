import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant } from '../rows.ts';
import { auditEntry } from '../rules/audit.ts';
import { isLow } from '../rules/factors/assurance.ts';
import { childOf, hashOf, readRefreshToken } from '../rules/tokens/refresh-token.ts';
import { decideRotation } from '../rules/tokens/rotation.ts';
import { type IssuedSession, issueTokens } from '../sessions/issue-tokens.ts';
import { livingSessions, sessionLimits } from '../sessions/session-limits.ts';
import * as refreshTokens from '../store/refresh-tokens.ts';
import { findImportedToken } from './find-imported-token.ts';

/**
 * Exchanges a refresh token for a new pair (POST /token?grant_type=refresh_token). One round trip: the statement
 * rotates what may be rotated and tells how the family stood, the rule says what that means. Only the end of a
 * family takes a second one, and the first token of a session that was imported.
 */
export async function refreshSession(
  context: AuthContext,
  text: string,
  origin: Origin,
): Promise<IssuedSession> {
  const { settings, atRest, database, limits } = context;
  const own = readRefreshToken(text, atRest.refreshTokens);
  // Not for the client: behind one address are a whole office, or everybody whose pages a server renders, and clients
  // sign out who is refused here.
  if (own !== undefined) await limits.take('refresh', own.sessionId);
  const presented = own ?? (await findImportedToken(context, text));
  if (presented === undefined) throw failures.refreshTokenNotFound();
  const child = childOf(presented, atRest.refreshTokens);
  const tx = database.autocommit();
  const presentedHash = hashOf(presented);
  const policy = {
    ...sessionLimits(settings),
    rotationEnabled: settings.SECURITY_REFRESH_TOKEN_ROTATION_ENABLED,
  };
  const family = await refreshTokens.rotate(
    tx,
    presented.sessionId,
    presentedHash,
    hashOf(child),
    livingSessions(settings, tx.now),
    origin,
  );
  // The session is gone, by a sign-out or with its user.
  if (family === undefined) throw failures.refreshTokenNotFound();

  const state = {
    ...family,
    bannedUntilMs: instant(family.user.banned_until),
    isLow: isLow(family.aal, family.user.factors),
  };
  const rotation = decideRotation(presentedHash, state, policy, tx.now);
  // Both look at the same row by the same conditions; a child nobody recorded must not leave the house.
  if ((rotation === 'rotate') !== family.rotated)
    throw new Error(`the statement does not agree to ${rotation}`);
  switch (rotation) {
    case 'rotate':
    case 'repeat': {
      const { aal, amr, createdAt: begunAt } = family;
      const session = { id: presented.sessionId, aal, amr, begunAt };
      const request = { method: 'token_refresh', origin };
      try {
        return await issueTokens(context, family, session, child, tx.now, request);
      } catch (error) {
        throw failures.outOfOrderAtRefresh(error);
      }
    }
    case 'reuse': {
      const audit = [
        auditEntry(family.user, 'token_revoked', { reason: 'reuse of an outdated refresh token' }),
      ];
      await refreshTokens.revokeFamily(tx, presented.sessionId, { ...origin, audit });
      throw failures.refreshTokenReused();
    }
    case 'refuse':
      throw failures.refreshTokenReused();
    case 'banned':
      throw failures.refreshBanned();
    case 'expired':
      throw failures.sessionExpired();
    case 'inactive':
      throw failures.sessionInactive();
    case 'low':
      throw failures.sessionLow();
    case 'superseded':
      throw failures.sessionSuperseded();
  }
}
