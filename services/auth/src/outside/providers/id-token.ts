import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { type Answer, ask, objectOf, objectsOf, textOf } from './answers.ts';
import { type Client, ProviderRefused } from './provider.ts';

/** What an id_token must say to be believed. */
export interface Expected {
  /** Whether the token may come from this issuer; some name the tenant, which another claim tells. */
  isIssuer(issuer: string, claims: Answer): boolean;
  /** What was sent along with the authorize request; undefined where PKCE binds the code instead. */
  nonce: string | undefined;
}

/** The public keys of an issuer. */
export interface Keys {
  /** @throws ProviderRefused when the issuer cannot be asked */
  find(keyId: string, signal: AbortSignal): Promise<KeyObject | undefined>;
}

/** Two clocks may differ by so much. */
const LEEWAY_SECONDS = 60;
const MAX_TOKEN_CHARACTERS = 32 * 1024;
const MIN_RSA_BITS = 2048;

/** The algorithms the providers sign with, and the one kind of key each may be verified with. */
const ALGORITHMS: Readonly<Record<string, (key: KeyObject) => boolean>> = {
  RS256: (key) =>
    key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS,
  ES256: (key) => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1',
};

/**
 * Checks an id_token (OpenID Connect Core §3.1.3.7). The key decides which algorithm is possible, never the token
 * alone: a public key is no HMAC secret, and `none` is no algorithm.
 * @returns its claims
 * @throws ProviderRefused saying which check failed
 */
export async function verifyIdToken(
  token: unknown,
  client: Client,
  keys: Keys,
  expected: Expected,
  signal: AbortSignal,
): Promise<Answer> {
  const [head = '', body = '', signature = '', ...more] = textOf(token)
    .slice(0, MAX_TOKEN_CHARACTERS + 1)
    .split('.');
  if (textOf(token).length > MAX_TOKEN_CHARACTERS || signature === '' || more.length > 0)
    throw refused('is missing or malformed');
  const header = jsonPart(head);
  const fits = ALGORITHMS[textOf(header['alg'])];
  if (fits === undefined) throw refused('is signed with an algorithm we do not accept');
  if (header['crit'] !== undefined) throw refused('has a critical extension');
  const key = await keys.find(textOf(header['kid']), signal);
  if (key === undefined || !fits(key)) throw refused('is signed with an unknown key');
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${body}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!isSigned) throw refused('has a wrong signature');
  const claims = jsonPart(body);
  checkClaims(claims, client, expected);
  return claims;
}

function checkClaims(claims: Answer, client: Client, expected: Expected): void {
  const now = client.clock.now().getTime() / 1000;
  if (!expected.isIssuer(textOf(claims['iss']), claims)) throw refused('has another issuer');
  const audience: unknown[] = Array.isArray(claims['aud']) ? claims['aud'] : [claims['aud']];
  if (!audience.includes(client.id)) throw refused('is meant for another client');
  if (audience.length > 1 && claims['azp'] !== client.id) throw refused('was issued to another client');
  const { exp, iat, nbf } = claims;
  if (typeof exp !== 'number' || exp <= now - LEEWAY_SECONDS) throw refused('has expired');
  if (typeof iat === 'number' && iat > now + LEEWAY_SECONDS) throw refused('is from the future');
  if (typeof nbf === 'number' && nbf > now + LEEWAY_SECONDS) throw refused('is not valid yet');
  if (client.skipNonceCheck || expected.nonce === undefined) return;
  if (claims['nonce'] !== expected.nonce) throw refused('has another nonce');
}

function jsonPart(part: string): Answer {
  try {
    return objectOf(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  } catch {
    throw refused('is malformed');
  }
}

function refused(reason: string): ProviderRefused {
  return new ProviderRefused('profile', `the id_token ${reason}`);
}

const KEYS_LIFE_MS = 3_600_000;
/** A token can name any key, so an unknown one makes us ask again only so often. */
const ASK_AGAIN_MS = 60_000;

/** Keys as a JWK set at a URL, asked for when needed and kept for an hour. */
export function remoteKeys(client: Client): (url: string) => Keys {
  const sets = new Map<string, { keys: ReadonlyMap<string, KeyObject>; at: number }>();
  return (url) => ({
    async find(keyId, signal) {
      const now = client.clock.now().getTime();
      const known = sets.get(url);
      const found = known?.keys.get(keyId);
      const age = known === undefined ? Number.POSITIVE_INFINITY : now - known.at;
      if (age < (found === undefined ? ASK_AGAIN_MS : KEYS_LIFE_MS)) return found;
      const keys = readKeys(await ask(client.http, 'profile', url, {}, signal));
      sets.set(url, { keys, at: now });
      return keys.get(keyId);
    },
  });
}

function readKeys(set: unknown): ReadonlyMap<string, KeyObject> {
  const keys = new Map<string, KeyObject>();
  for (const jwk of objectsOf(objectOf(set)['keys'])) {
    if (jwk['use'] !== undefined && jwk['use'] !== 'sig') continue;
    try {
      keys.set(textOf(jwk['kid']), createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }));
    } catch {
      // A kind of key we do not know; those we need are still there.
    }
  }
  return keys;
}
