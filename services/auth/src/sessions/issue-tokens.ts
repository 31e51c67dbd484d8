import { randomBytes, randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import { customizeClaims } from '../hooks/customize-claims.ts';
import type { Person } from '../rows.ts';
import { isLow, tokenSeconds } from '../rules/factors/assurance.ts';
import { accessTokenClaims, type ClaimedSession } from '../rules/tokens/claims.ts';
import {
  FIRST_SECRET_BYTES,
  hashOf,
  type RefreshToken,
  writeRefreshToken,
} from '../rules/tokens/refresh-token.ts';
import type { NewSession } from '../store/openings.ts';
import * as sessions from '../store/sessions.ts';

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

/** How somebody came to ask for tokens: a value of `amr.method` or `token_refresh`, and from where. */
export interface TokenRequest {
  method: string;
  origin: Origin;
}

/**
 * The tokens of a session that was just opened. Should a hook forbid them, the session goes again: nobody could use it,
 * and it would stand in its user's list for ever.
 * @throws Failure of the hook `custom_access_token`
 */
export async function issueFirstTokens(
  context: AuthContext,
  person: Person,
  { row, refreshToken }: PreparedSession,
  now: Date,
  origin: Origin,
): Promise<IssuedSession> {
  const timestamp = Math.floor(now.getTime() / 1000);
  const session = { id: row.id, aal: 'aal1', amr: [{ method: row.method, timestamp }] };
  const request = { method: row.method, origin };
  try {
    return await issueTokens(context, person, session, refreshToken, now, request);
  } catch (error) {
    const trace = { ...origin, audit: [] };
    await sessions.endOne(context.database.autocommit(), person.user.id, row.id, trace);
    throw error;
  }
}

/**
 * An access token for the session, and the refresh token as the client is to hold it.
 * @throws Failure of the hook `custom_access_token`: whoever asks again for the same refresh token gets it then
 */
export async function issueTokens(
  context: AuthContext,
  person: Person,
  session: ClaimedSession,
  refreshToken: RefreshToken,
  now: Date,
  request: TokenRequest,
): Promise<IssuedSession> {
  const { JWT_EXP, JWT_ISSUER, SESSIONS_ALLOW_LOW_AAL: lowMs } = context.settings;
  const { custom_access_token: hook } = context.outside.hooks;
  const low = { isLow: isLow(session.aal, person.user.factors), begunAt: session.begunAt ?? now, lowMs };
  const seconds = tokenSeconds(JWT_EXP, low, now);
  const ours = accessTokenClaims(person.user, session, now, seconds, JWT_ISSUER);
  const claims = hook === undefined ? ours : await customizeClaims(hook, person.user.id, ours, request);
  return {
    person,
    accessToken: context.accessTokens.sign(claims),
    expiresInSeconds: claims.exp - ours.iat,
    expiresAt: claims.exp,
    refreshToken: writeRefreshToken(refreshToken, context.atRest.refreshTokens),
  };
}
