import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** The algorithms a key can have (RFC 7518 §3.1, RFC 8037). A key has one, and a token cannot choose another. */
export type JwtAlgorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA';

/** One key of `JWT_KEYS`. */
export interface JwtKey {
  readonly kid: string;
  readonly algorithm: JwtAlgorithm;
  /** What tokens are verified with: PEM, or the bytes of a shared secret. */
  readonly verifying: string | Buffer;
  /** What tokens are signed with; undefined for a key that only verifies. */
  readonly signing: string | Buffer | undefined;
  /** What others may know of it; undefined for a shared secret. */
  readonly published: JsonWebKey | undefined;
}

/** The keys of an operator. Never more than one signs; without one tokens can only be verified. */
export interface JwtKeys {
  readonly signing: JwtKey | undefined;
  readonly all: readonly JwtKey[];
}

/** What each algorithm wants of a key (RFC 7517 §6, RFC 7518 §6). */
const KINDS: Readonly<Record<JwtAlgorithm, { kty: string; crv?: string; name: string }>> = {
  HS256: { kty: 'oct', name: 'an `oct` key' },
  RS256: { kty: 'RSA', name: 'an RSA key' },
  ES256: { kty: 'EC', crv: 'P-256', name: 'an EC key on the curve P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', name: 'an OKP key on the curve Ed25519' },
};

/** RFC 7518 §3.2: as many bits as the hash has. */
const MIN_SECRET_BYTES = 32;
/** RFC 7518 §3.3. */
const MIN_RSA_BITS = 2048;
/** Small exponents are where implementations of RSA have been broken. */
const MIN_RSA_EXPONENT = 65_537n;
/** More are a mistake, and each token's `kid` is compared with what is here. */
const MAX_KEYS = 32;
const MAX_KID_CHARACTERS = 256;

/**
 * Reads `JWT_KEYS`: a JSON array of JSON Web Keys (RFC 7517), or a set `{"keys":[…]}`. The one whose `key_ops` has
 * `sign` signs; the others verify tokens signed earlier.
 * @throws Error with a sentence that names the key, never what is in it
 */
export function readJwtKeys(json: string): JwtKeys {
  const list = keyList(json);
  if (list.length === 0 || list.length > MAX_KEYS) throw new Error(`expected 1 to ${MAX_KEYS} keys`);
  const all = list.map(readKey);
  const seen = new Set<string>();
  for (const { kid } of all) {
    if (seen.has(kid)) throw new Error(`two keys have the kid ${JSON.stringify(kid)}`);
    seen.add(kid);
  }
  const signing = all.filter((key) => key.signing !== undefined);
  if (signing.length > 1) {
    const names = signing.map(({ kid }) => JSON.stringify(kid)).join(' and ');
    throw new Error(`only one key may have \`sign\` in its key_ops, not ${names}`);
  }
  return { signing: signing[0], all };
}

function keyList(json: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The parser's own text would quote the key.
    throw new Error('expected a JSON array of JSON Web Keys, this is no JSON');
  }
  const list: unknown = isObject(value) ? value['keys'] : value;
  if (!Array.isArray(list)) throw new Error('expected a JSON array of JSON Web Keys');
  return list;
}

function readKey(value: unknown, index: number): JwtKey {
  if (!isObject(value)) throw new Error(`key ${index + 1} is no JSON object`);
  const kid = value['kid'];
  if (typeof kid !== 'string' || kid === '' || kid.length > MAX_KID_CHARACTERS) {
    throw new Error(`key ${index + 1} needs a \`kid\` of 1 to ${MAX_KID_CHARACTERS} characters`);
  }
  const refuse = (reason: string): Error => new Error(`the key ${JSON.stringify(kid)} ${reason}`);
  const algorithm = algorithmOf(value, refuse);
  const signs = maySign(value, refuse);
  if (value['use'] !== undefined && value['use'] !== 'sig')
    throw refuse('is not for signatures: `use` must be `sig`');
  return algorithm === 'HS256'
    ? sharedSecret(kid, value, signs, refuse)
    : keyPair(kid, algorithm, value, signs, refuse);
}

function algorithmOf(jwk: Record<string, unknown>, refuse: (reason: string) => Error): JwtAlgorithm {
  const algorithms = Object.keys(KINDS) as JwtAlgorithm[];
  const named = jwk['alg'];
  // Without `alg` the kind of the key leaves no choice.
  const algorithm = algorithms.find((one) =>
    named === undefined ? KINDS[one].kty === jwk['kty'] : named === one,
  );
  if (algorithm === undefined) throw refuse(`needs an \`alg\` of ${algorithms.join(', ')}`);
  const { kty, crv, name } = KINDS[algorithm];
  if (jwk['kty'] !== kty || (crv !== undefined && jwk['crv'] !== crv))
    throw refuse(`has alg ${algorithm}, which needs ${name}`);
  return algorithm;
}

function maySign(jwk: Record<string, unknown>, refuse: (reason: string) => Error): boolean {
  const operations = jwk['key_ops'];
  if (operations === undefined) return false;
  if (!Array.isArray(operations) || operations.some((one) => one !== 'sign' && one !== 'verify')) {
    throw refuse('may have only `sign` and `verify` in its key_ops');
  }
  return operations.includes('sign');
}

function sharedSecret(
  kid: string,
  jwk: Record<string, unknown>,
  signs: boolean,
  refuse: (reason: string) => Error,
): JwtKey {
  const text = jwk['k'];
  if (typeof text !== 'string' || !/^[\w-]+$/.test(text)) throw refuse('has no `k` in base64url');
  const secret = Buffer.from(text, 'base64url');
  if (secret.length < MIN_SECRET_BYTES) throw refuse(`is too short: ${MIN_SECRET_BYTES} bytes at least`);
  return {
    kid,
    algorithm: 'HS256',
    verifying: secret,
    signing: signs ? secret : undefined,
    published: undefined,
  };
}

function keyPair(
  kid: string,
  algorithm: JwtAlgorithm,
  jwk: Record<string, unknown>,
  signs: boolean,
  refuse: (reason: string) => Error,
): JwtKey {
  const isPrivate = jwk['d'] !== undefined;
  if (signs && !isPrivate) throw refuse('shall sign but has no private part');
  let privateKey: KeyObject | undefined;
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    if (isPrivate) privateKey = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch {
    throw refuse('cannot be read: its numbers are missing or wrong');
  }
  if (algorithm === 'RS256') checkRsa(publicKey, refuse);
  // The parts of a JWK may come from two keys; then every token we sign would be refused.
  if (privateKey !== undefined && !belongTogether(privateKey, publicKey)) {
    throw refuse('has a private part that belongs to another public part');
  }
  return {
    kid,
    algorithm,
    verifying: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    signing: signs ? (privateKey?.export({ type: 'pkcs8', format: 'pem' }) as string) : undefined,
    // Exported from the public key: whatever else the operator wrote into the JWK stays here.
    published: {
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg: algorithm,
      use: 'sig',
      key_ops: ['verify'],
    },
  };
}

function checkRsa(key: KeyObject, refuse: (reason: string) => Error): void {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS)
    throw refuse(`is too weak: ${modulusLength} bits, RS256 needs ${MIN_RSA_BITS}`);
  if (publicExponent < MIN_RSA_EXPONENT)
    throw refuse(`is too weak: its exponent must be ${MIN_RSA_EXPONENT} or more`);
}

function belongTogether(privateKey: KeyObject, publicKey: KeyObject): boolean {
  const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
  const derived = spki(createPublicKey(privateKey));
  const given = spki(publicKey);
  if (!derived.equals(given)) return false;
  const probe = Buffer.from('probe');
  const hash = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  try {
    return verify(hash, probe, publicKey, sign(hash, probe, privateKey));
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
