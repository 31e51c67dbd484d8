import { createSigner, createVerifier, TokenError } from 'fast-jwt';

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

/** Signs and verifies with one shared secret. */
export interface AccessTokens {
  /** Adds `iat` unless the claims have one. */
  sign(claims: AccessTokenClaims): string;
  /** @throws InvalidAccessToken */
  verify(token: string): AccessTokenClaims;
}

/**
 * HS256 tokens (RFC 7519, RFC 7518 §3.2). Only that algorithm verifies, whatever a token's header claims, and a
 * token without `exp` is refused: it would outlive every revocation.
 * @param now milliseconds since the epoch
 */
export function accessTokens(secret: string, now: () => number = Date.now): AccessTokens {
  const sign = createSigner({ key: secret, algorithm: 'HS256' });
  // Times are checked below, against our own clock.
  const decode = createVerifier({
    key: secret,
    algorithms: ['HS256'],
    requiredClaims: ['exp'],
    ignoreExpiration: true,
    ignoreNotBefore: true,
  });
  return {
    sign: (claims) => sign({ iat: Math.floor(now() / 1000), ...claims }),
    verify(token) {
      const claims = decodeOrRefuse(decode, token);
      const seconds = now() / 1000;
      if (typeof claims.exp !== 'number' || claims.exp <= seconds)
        throw new InvalidAccessToken('token has invalid claims: token is expired', true);
      if (claims.nbf !== undefined && claims.nbf > seconds)
        throw new InvalidAccessToken('token has invalid claims: token is not valid yet', false);
      return claims;
    },
  };
}

/** The texts after the colon are those Go's JWT library uses; clients of GoTrue look for them. */
const REASONS: Readonly<Record<string, string>> = {
  [TokenError.codes.invalidSignature]: 'token signature is invalid: signature is invalid',
  [TokenError.codes.missingSignature]: 'token signature is invalid: signature is missing',
  [TokenError.codes.invalidAlgorithm]: 'token signature is invalid: signing method is not allowed',
  [TokenError.codes.missingRequiredClaim]:
    'token has invalid claims: token is missing required claim: exp claim is required',
};

function decodeOrRefuse(decode: (token: string) => unknown, token: string): AccessTokenClaims {
  try {
    return decode(token) as AccessTokenClaims;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    throw new InvalidAccessToken(REASONS[error.code] ?? 'token is malformed: it cannot be parsed', false);
  }
}
