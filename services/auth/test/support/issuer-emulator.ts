import {
  constants,
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to sign, with a key of its own. */
export type Alg = 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA';

/** A key pair of an issuer. */
export interface IssuerKey {
  kid: string;
  alg: Alg;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** OpenID issuers on one loopback server, each below its own base, with one set of keys. */
export interface IssuerEmulator extends AsyncDisposable {
  url: string;
  baseOf(name: string): string;
  /** The keys that are published. */
  keys: IssuerKey[];
  /** Publishes a new key instead of all others. */
  rotate(alg?: Alg): IssuerKey;
  /** Paths that were asked for. */
  asked: string[];
  /** Replaces what is answered at a path such as `google/keys`. */
  instead: Map<string, (response: ServerResponse) => void>;
}

/** Makes a key pair. */
export function issuerKey(alg: Alg): IssuerKey {
  return { kid: randomUUID(), alg, ...pairOf(alg) };
}

function pairOf(alg: Alg): { privateKey: KeyObject; publicKey: KeyObject } {
  switch (alg) {
    case 'RS256':
    case 'PS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'ES384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' });
    case 'EdDSA':
      return generateKeyPairSync('ed25519');
  }
}

const DIGESTS = { RS256: 'sha256', PS256: 'sha256', ES256: 'sha256', ES384: 'sha384', EdDSA: null } as const;

/** Signs claims as the key's issuer would. */
export function signIdToken(key: IssuerKey, claims: object, header: object = {}): string {
  const signed = unsigned({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header }, claims);
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const how = {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
    ...(key.alg === 'PS256' ? pss : {}),
  } as const;
  return `${signed}.${sign(DIGESTS[key.alg], Buffer.from(signed), how).toString('base64url')}`;
}

/** Signs with a shared secret, as an attacker does who has only the public key. */
export function signWithSecret(secret: string | Buffer, header: object, claims: object): string {
  const signed = unsigned({ alg: 'HS256', ...header }, claims);
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** Header and claims without a signature. */
export function unsigned(header: object, claims: object): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

/** The nonce as it stands in the token of who was given this one. */
export function hashedNonce(nonce: string): string {
  return createHash('sha256').update(nonce).digest('hex');
}

/** Starts the issuers. */
export async function startIssuerEmulator(): Promise<IssuerEmulator> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1);
    emulator.asked.push(path);
    const other = emulator.instead.get(path);
    if (other !== undefined) return other(response);
    const answer = answerTo(path);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'nothing here' }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answerTo(path: string): object | undefined {
    const [name = '', ...rest] = path.split('/');
    const base = `${url}/${name}`;
    if (path.endsWith('/.well-known/openid-configuration')) {
      return {
        issuer: name === 'azure' ? `${base}/{tenantid}/v2.0` : base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        jwks_uri: `${base}/keys`,
      };
    }
    if (!/^(keys|auth\/keys|\.well-known\/(jwks\.json|oauth\/openid\/jwks\/))$/.test(rest.join('/')))
      return undefined;
    return {
      keys: emulator.keys.map(({ kid, alg, publicKey }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid,
        alg,
        use: 'sig',
      })),
    };
  }

  const emulator: IssuerEmulator = {
    url,
    baseOf: (name) => `${url}/${name}`,
    keys: [issuerKey('RS256')],
    rotate(alg = 'RS256') {
      const key = issuerKey(alg);
      emulator.keys = [key];
      return key;
    },
    asked: [],
    instead: new Map(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  return emulator;
}
