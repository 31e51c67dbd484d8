import { randomBytes, randomUUID } from 'node:crypto';
import type { AuthContext } from '../context.ts';
import type { Person } from '../rows.ts';
import { accessTokenClaims, type ClaimedSession } from '../rules/tokens/claims.ts';
import {
  FIRST_SECRET_BYTES,
  hashOf,
  type RefreshToken,
  writeRefreshToken,
} from '../rules/tokens/refresh-token.ts';
import type { NewSession } from '../store/sessions.ts';

/** A session that is about to be opened: the row to write, and the token only the client will have. */
export interface PreparedSession {
  row: NewSession;
  refreshToken: RefreshToken;
}

/** What the client gets of a session. */
export interface IssuedSession {
  person: Person;
  accessToken: string;
  expiresInSeconds: number;
  /** Seconds since the epoch. */
  expiresAt: number;
  refreshToken: string;
}

/**
 * Chooses id and first refresh token of a session.
 * @param method a value of `amr.method`
 */
export function prepareSession(method: string): PreparedSession {
  const sessionId = randomUUID();
  const refreshToken = { sessionId, counter: 0, secret: randomBytes(FIRST_SECRET_BYTES) };
  return { row: { id: sessionId, method, tokenHash: hashOf(refreshToken) }, refreshToken };
}

/** The tokens of a session that was just opened. */
export function issueFirstTokens(
  context: AuthContext,
  person: Person,
  { row, refreshToken }: PreparedSession,
  now: Date,
): IssuedSession {
  const timestamp = Math.floor(now.getTime() / 1000);
  const session = { id: row.id, aal: 'aal1', amr: [{ method: row.method, timestamp }] };
  return issueTokens(context, person, session, refreshToken, now);
}

/** An access token for the session, and the refresh token as the client is to hold it. */
export function issueTokens(
  context: AuthContext,
  person: Person,
  session: ClaimedSession,
  refreshToken: RefreshToken,
  now: Date,
): IssuedSession {
  const { JWT_EXP, JWT_ISSUER } = context.settings;
  const claims = accessTokenClaims(person.user, session, now, JWT_EXP, JWT_ISSUER);
  return {
    person,
    accessToken: context.accessTokens.sign(claims),
    expiresInSeconds: JWT_EXP,
    expiresAt: claims.exp,
    refreshToken: writeRefreshToken(refreshToken, context.atRest.refreshTokens),
  };
}
