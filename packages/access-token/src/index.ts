import type { JsonWebKey } from 'node:crypto';
import { createSigner, createVerifier, TokenError } from 'fast-jwt';
import type { JwtAlgorithm, JwtKey, JwtKeys } from './jwt-keys.ts';

export { type JwtKeys, readJwtKeys } from './jwt-keys.ts';

/** What the token says of its bearer; auth issues it, the other services read it. */
export interface AccessTokenClaims {
  /** User id, a UUID. Absent in tokens made by hand for an admin role. */
  sub?: string;
  aud?: string;
  iss?: string;
  /** Seconds since the epoch. */
  exp?: number;
  iat?: number;
  nbf?: number;
  role?: string;
  email?: string;
  phone?: string;
  session_id?: string;
  is_anonymous?: boolean;
  aal?: string;
  amr?: readonly { method: string; timestamp: number; provider?: string }[];
  app_metadata?: Record<string, unknown>;
  user_metadata?: Record<string, unknown>;
}

/** A token that is not accepted; `expired` tells the one case a client can mend by refreshing. */
export class InvalidAccessToken extends Error {
  override readonly name = 'InvalidAccessToken';
  readonly expired: boolean;

  constructor(reason: string, expired: boolean) {
    super(reason);
    this.expired = expired;
  }
}

/** Signs and verifies. */
export interface AccessTokens {
  /** Adds `iat` unless the claims have one. */
  sign(claims: AccessTokenClaims): string;
  /** @throws InvalidAccessToken */
  verify(token: string): AccessTokenClaims;
  /** The public keys of the tokens as JSON Web Keys; shared secrets are none. */
  readonly publicKeys: readonly JsonWebKey[];
}

/** What tokens are signed and verified with. */
export interface TokenKeys {
  /**
   * Shared secret (HS256): signs unless one of `keys` does, and always verifies what it signed. Undefined where tokens
   * are verified by `keys` alone; then nothing can be signed unless one of them signs.
   */
  secret: string | undefined;
  keys?: JwtKeys | undefined;
  /** `kid` of tokens that the secret signs; they verify without it as well. */
  keyId?: string | undefined;
  /** Algorithms of accepted tokens; none means those of the keys. */
  algorithms?: readonly string[] | undefined;
}

/**
 * Access tokens (RFC 7519). The key of a token is the one its `kid` names, and the token's `alg` must be that key's;
 * a token whose `kid` is not known, or that has none, can only be an HS256 token of the secret. Nothing else in a
 * header counts: keys and addresses of keys in it are the sender's own. A token without `exp` is refused: it would
 * outlive every revocation.
 * @param now milliseconds since the epoch
 * @throws Error when our own tokens would not be accepted
 */
export function accessTokens(keys: string | TokenKeys, now: () => number = Date.now): AccessTokens {
  const {
    secret,
    keys: own,
    keyId,
    algorithms = [],
  }: TokenKeys = typeof keys === 'string' ? { secret: keys } : keys;
  const signing = own?.signing;
  if (secret === undefined && own === undefined) throw new Error('there is neither a secret nor a key');
  const signedWith = signing?.algorithm ?? 'HS256';
  const signs = signing !== undefined || secret !== undefined;
  if (signs && algorithms.length > 0 && !algorithms.includes(signedWith)) {
    throw new Error(
      `tokens are signed with ${signedWith}, which is not among the accepted ${algorithms.join(', ')}`,
    );
  }
  if (signing === undefined && keyId !== undefined && own?.all.some(({ kid }) => kid === keyId)) {
    throw new Error(`JWT_KEY_ID ${JSON.stringify(keyId)} is also the id of a key of JWT_KEYS`);
  }
  const sign = signer(signing, secret, keyId);
  const find = verifiers(secret, own?.all ?? [], algorithms);
  return {
    sign: (claims) => sign({ iat: Math.floor(now() / 1000), ...claims }) as string,
    verify(token) {
      const claims = decodeOrRefuse(find, token);
      const seconds = now() / 1000;
      if (typeof claims.exp !== 'number' || claims.exp <= seconds)
        throw new InvalidAccessToken('token has invalid claims: token is expired', true);
      if (claims.nbf !== undefined && claims.nbf > seconds)
        throw new InvalidAccessToken('token has invalid claims: token is not valid yet', false);
      return claims;
    },
    publicKeys: (own?.all ?? []).flatMap(({ published }) => (published === undefined ? [] : [published])),
  };
}

function signer(
  key: JwtKey | undefined,
  secret: string | undefined,
  keyId: string | undefined,
): (claims: AccessTokenClaims) => unknown {
  if (key?.signing !== undefined)
    return createSigner({ key: key.signing, algorithm: key.algorithm, kid: key.kid });
  if (secret !== undefined)
    return createSigner({ key: secret, algorithm: 'HS256', ...(keyId === undefined ? {} : { kid: keyId }) });
  return () => {
    throw new Error('there is no key to sign tokens with');
  };
}

/** Decodes tokens of one key. */
type Verifier = (token: string) => unknown;

/** Finds what verifies a token by its header, written as it stands in the token. @throws InvalidAccessToken */
type FindVerifier = (header: string) => Verifier;

/** Every token has one of few headers, those of the keys; real ones are longer than this only by mistake. */
const MAX_HEADER_CHARACTERS = 4096;

function verifiers(
  secret: string | undefined,
  keys: readonly JwtKey[],
  algorithms: readonly string[],
): FindVerifier {
  const ofSecret =
    secret === undefined ? undefined : { algorithm: 'HS256' as const, verify: verifier('HS256', secret) };
  const byId = new Map(
    keys.map((key) => [
      key.kid,
      { algorithm: key.algorithm, verify: verifier(key.algorithm, key.verifying) },
    ]),
  );
  return (text) => {
    const { alg, kid } = readHeader(text);
    if (kid !== undefined && typeof kid !== 'string') throw malformed();
    const key = (kid === undefined ? undefined : byId.get(kid)) ?? ofSecret;
    if (key !== undefined && alg === key.algorithm) {
      if (algorithms.length === 0 || algorithms.includes(key.algorithm)) return key.verify;
    }
    if (key === ofSecret && kid !== undefined) {
      const name = kid.replaceAll(/[^\w.:/+=-]/g, '?').slice(0, 64);
      throw new InvalidAccessToken(`token is unverifiable: unrecognized JWT kid ${name}`, false);
    }
    throw new InvalidAccessToken('token signature is invalid: signing method is not allowed', false);
  };
}

function verifier(algorithm: JwtAlgorithm, key: string | Buffer): Verifier {
  return createVerifier({
    key,
    algorithms: [algorithm],
    requiredClaims: ['exp'],
    // Times are checked by the caller, against our own clock.
    ignoreExpiration: true,
    ignoreNotBefore: true,
  });
}

function readHeader(text: string): Record<string, unknown> {
  if (text.length > MAX_HEADER_CHARACTERS) throw malformed();
  try {
    const header: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof header === 'object' && header !== null && !Array.isArray(header)) {
      return header as Record<string, unknown>;
    }
  } catch {
    // Answered below like everything that is no header.
  }
  throw malformed();
}

function malformed(): InvalidAccessToken {
  return new InvalidAccessToken('token is malformed: it cannot be parsed', false);
}

/** The texts after the colon are those Go's JWT library uses; clients of GoTrue look for them. */
const REASONS: Readonly<Record<string, string>> = {
  [TokenError.codes.invalidSignature]: 'token signature is invalid: signature is invalid',
  [TokenError.codes.missingSignature]: 'token signature is invalid: signature is missing',
  [TokenError.codes.invalidAlgorithm]: 'token signature is invalid: signing method is not allowed',
  [TokenError.codes.missingRequiredClaim]:
    'token has invalid claims: token is missing required claim: exp claim is required',
};

function decodeOrRefuse(find: FindVerifier, token: string): AccessTokenClaims {
  const decode = find(token.slice(0, Math.max(0, token.indexOf('.'))));
  try {
    return decode(token) as AccessTokenClaims;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const reason = REASONS[error.code];
    throw reason === undefined ? malformed() : new InvalidAccessToken(reason, false);
  }
}
