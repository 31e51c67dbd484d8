import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * A refresh token is base64url of: version, session, counter, secret, seal.
 *
 * - The secret of the first token is random, that of each further one an HMAC of its family, its counter and its
 *   parent. Whoever presents the parent again can be given the same child, though the database only has hashes;
 *   neither a copy of the database nor the server's key alone, nor both, yields a token.
 * - The seal proves that we made the token, before any look into the database: strangers who know a session's id,
 *   which is in every access token, cannot trigger reuse detection with an invented token.
 */
export interface RefreshToken {
  /** The family. */
  readonly sessionId: string;
  /** 0 for the token of the sign-in, one more with each rotation. */
  readonly counter: number;
  readonly secret: Buffer;
}

const VERSION = 1;
const SECRET_BYTES = 16;
const SEAL_BYTES = 16;
const COUNTER_AT = 17;
const SECRET_AT = 21;
const SEAL_AT = SECRET_AT + SECRET_BYTES;
const TOKEN_BYTES = SEAL_AT + SEAL_BYTES;

/** Bytes of randomness the first secret of a family needs. */
export const FIRST_SECRET_BYTES = SECRET_BYTES;

/** The next token of the family, always the same one for the same parent. */
export function childOf(parent: RefreshToken, key: KeyObject): RefreshToken {
  const { sessionId } = parent;
  const counter = parent.counter + 1;
  const made = createHmac('sha256', key)
    .update(`child ${sessionId} ${counter} `)
    .update(parent.secret)
    .digest();
  return { sessionId, counter, secret: made.subarray(0, SECRET_BYTES) };
}

/** What the database keeps of a token. */
export function hashOf(token: RefreshToken): Buffer {
  return hash('sha256', token.secret, 'buffer');
}

/** The token as clients hold it. */
export function writeRefreshToken(token: RefreshToken, key: KeyObject): string {
  const bytes = Buffer.alloc(TOKEN_BYTES);
  bytes[0] = VERSION;
  bytes.write(token.sessionId.replaceAll('-', ''), 1, 'hex');
  bytes.writeUInt32BE(token.counter, COUNTER_AT);
  token.secret.copy(bytes, SECRET_AT);
  sealOf(bytes, key).copy(bytes, SEAL_AT, 0, SEAL_BYTES);
  return bytes.toString('base64url');
}

/** The token a text stands for, or undefined when we did not make it. */
export function readRefreshToken(text: string, key: KeyObject): RefreshToken | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== TOKEN_BYTES || bytes[0] !== VERSION || bytes.toString('base64url') !== text)
    return undefined;
  if (!timingSafeEqual(sealOf(bytes, key).subarray(0, SEAL_BYTES), bytes.subarray(SEAL_AT))) return undefined;
  return {
    sessionId: formatUuid(bytes.toString('hex', 1, COUNTER_AT)),
    counter: bytes.readUInt32BE(COUNTER_AT),
    secret: bytes.subarray(SECRET_AT, SEAL_AT),
  };
}

function sealOf(bytes: Buffer, key: KeyObject): Buffer {
  return createHmac('sha256', key).update('seal ').update(bytes.subarray(0, SEAL_AT)).digest();
}

function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
