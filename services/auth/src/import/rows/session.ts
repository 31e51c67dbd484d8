import type { KeyObject } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { deriveGoTrueToken } from '../../rules/tokens/gotrue-token.ts';
import { importedSecret } from '../../rules/tokens/imported-token.ts';
import { hashOf } from '../../rules/tokens/refresh-token.ts';
import type { GivenClaim, GivenSession } from '../../store/import-sessions.ts';
import type { GivenToken } from '../../store/imported-refresh-tokens.ts';
import { flagOf, isEncrypted, numberOf, type SourceRow, textOf, timeOf } from './fields.ts';
import type { Note } from './user.ts';

const KEY_BYTES = 32;
const HASH_BYTES = 32;

/** A session; undefined when nobody could continue it here. */
export function sessionFrom(row: SourceRow, now: string, note: Note): GivenSession | undefined {
  if (textOf(row, 'oauth_client_id') !== null) {
    note('sessions of OAuth clients: there is no OAuth server here');
    return undefined;
  }
  const createdAt = timeOf(row, 'created_at') ?? now;
  const updatedAt = timeOf(row, 'updated_at') ?? createdAt;
  return {
    id: textOf(row, 'id') ?? '',
    user_id: textOf(row, 'user_id') ?? '',
    aal: textOf(row, 'aal') ?? 'aal1',
    factor_id: textOf(row, 'factor_id'),
    not_after: timeOf(row, 'not_after'),
    user_agent: textOf(row, 'user_agent'),
    ip: textOf(row, 'ip'),
    refreshed_at: timeOf(row, 'refreshed_at') ?? createdAt,
    created_at: createdAt,
    updated_at: updatedAt,
    // Of no token: it stands there until the session's own is known.
    token_hash: randomBytes(HASH_BYTES).toString('hex'),
  };
}

/**
 * The refresh tokens of a session that GoTrue keeps no rows of: the one its client has, and the one before.
 * @param key hashes of tokens are made with it
 */
export function derivedTokensFrom(row: SourceRow, key: KeyObject, note: Note): GivenToken[] {
  const stored = textOf(row, 'refresh_token_hmac_key');
  const sessionId = textOf(row, 'id') ?? '';
  if (stored === null) return [];
  if (isEncrypted(stored)) {
    note('sessions whose refresh tokens GoTrue encrypted (DB_ENCRYPTION): their owners have to sign in');
    return [];
  }
  const ofSession = Buffer.from(stored, 'base64');
  if (ofSession.length !== KEY_BYTES) return [];
  const counter = numberOf(row, 'refresh_token_counter');
  return [counter, counter - 1]
    .filter((one) => one >= 0)
    .map((one) => ({
      token_hash: tokenHash(deriveGoTrueToken(sessionId, one, ofSession), key),
      session_id: sessionId,
      position: one,
      is_live: one === counter,
    }));
}

/** A refresh token that GoTrue has a row of; undefined for one of a time before there were sessions. */
export function tokenFrom(row: SourceRow, key: KeyObject): GivenToken | undefined {
  const [token, sessionId] = [textOf(row, 'token'), textOf(row, 'session_id')];
  if (token === null || sessionId === null) return undefined;
  return {
    token_hash: tokenHash(token, key),
    session_id: sessionId,
    position: numberOf(row, 'id'),
    is_live: !flagOf(row, 'revoked'),
  };
}

function tokenHash(text: string, key: KeyObject): string {
  return hashOf({ sessionId: '', counter: 0, secret: importedSecret(text, key) }).toString('hex');
}

/** How a session was opened. */
export function claimFrom(row: SourceRow, now: string): GivenClaim {
  const createdAt = timeOf(row, 'created_at') ?? now;
  return {
    session_id: textOf(row, 'session_id') ?? '',
    authentication_method: textOf(row, 'authentication_method') ?? '',
    created_at: createdAt,
    updated_at: timeOf(row, 'updated_at') ?? createdAt,
  };
}
