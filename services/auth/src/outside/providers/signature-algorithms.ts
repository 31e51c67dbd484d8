import { constants, type KeyObject, verify } from 'node:crypto';

/** A way to sign that takes a key pair, and the one kind of key it may be verified with. */
interface Algorithm {
  /** Null where the way to sign has one of its own. */
  digest: string | null;
  fits(key: KeyObject): boolean;
  padding?: number;
}

const MIN_RSA_BITS = 2048;

const rsa = (digest: string, padding?: number): Algorithm => ({
  digest,
  fits: (key) =>
    key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS,
  ...(padding === undefined ? {} : { padding }),
});
const pss = (digest: string): Algorithm => rsa(digest, constants.RSA_PKCS1_PSS_PADDING);
const ecdsa = (digest: string, curve: string): Algorithm => ({
  digest,
  fits: (key) => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve,
});

/** There is none with a shared secret among them: whoever verifies a token could make it as well. */
const ALGORITHMS: ReadonlyMap<unknown, Algorithm> = new Map([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', pss('sha256')],
  ['PS384', pss('sha384')],
  ['PS512', pss('sha512')],
  ['ES256', ecdsa('sha256', 'prime256v1')],
  ['ES384', ecdsa('sha384', 'secp384r1')],
  ['ES512', ecdsa('sha512', 'secp521r1')],
  ['EdDSA', { digest: null, fits: (key) => key.asymmetricKeyType === 'ed25519' }],
]);

/** Whether tokens signed like this are looked at. */
export function isAccepted(alg: unknown): boolean {
  return ALGORITHMS.has(alg);
}

/** Whether the key could have signed like this and did. */
export function isSignedBy(key: KeyObject, alg: unknown, signed: string, signature: Buffer): boolean {
  const algorithm = ALGORITHMS.get(alg);
  if (algorithm === undefined || !algorithm.fits(key)) return false;
  const { digest, padding } = algorithm;
  const salted = padding === undefined ? {} : { padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(digest, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363', ...salted }, signature);
}

/** The hash that goes with the way a token is signed (OpenID Connect Core §3.1.3.6); Ed25519 hashes with SHA-512. */
export function hashOfAlgorithm(alg: unknown): string {
  return ALGORITHMS.get(alg)?.digest ?? 'sha512';
}
