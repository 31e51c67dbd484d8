import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomBytes,
  sign,
} from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { type AccessTokens, accessTokens, InvalidAccessToken, readJwtKeys } from './index.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const now = (): number => NOW;
const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const claims = { sub: '5b9e7d6c-1111-4222-8333-944445555666', role: 'authenticated', exp: NOW / 1000 + 3600 };

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
};
type Asymmetric = keyof typeof pairs;
const asymmetric = Object.keys(pairs) as Asymmetric[];

const SIGN = ['sign', 'verify'];
const privateJwk = (alg: Asymmetric, more: object = {}): JsonWebKey => ({
  ...pairs[alg].privateKey.export({ format: 'jwk' }),
  kid: alg,
  alg,
  ...more,
});
const publicJwk = (alg: Asymmetric, more: object = {}): JsonWebKey => ({
  ...pairs[alg].publicKey.export({ format: 'jwk' }),
  kid: alg,
  alg,
  ...more,
});
const oct = { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: 'shared', alg: 'HS256' };
const read = (...keys: object[]) => readJwtKeys(JSON.stringify(keys));
const tokensOf = (...keys: object[]): AccessTokens =>
  accessTokens({ secret: SECRET, keys: read(...keys) }, now);

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const headerOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());

/** A token somebody made by hand. */
function forged(header: unknown, make: (signed: string) => Buffer, payload: object = claims): string {
  const signed = `${part(header)}.${part(payload)}`;
  return `${signed}.${make(signed).toString('base64url')}`;
}
const hmac =
  (key: string | Buffer) =>
  (signed: string): Buffer =>
    createHmac('sha256', key).update(signed).digest();

describe('signing', () => {
  test.each(asymmetric)('%s: the header names the key, and those with the public key alone verify', (alg) => {
    const token = tokensOf(privateJwk(alg, { key_ops: SIGN })).sign(claims);
    expect(headerOf(token)).toEqual({ alg, typ: 'JWT', kid: alg });
    const others = accessTokens({ secret: 'another secret', keys: read(publicJwk(alg)) }, now);
    expect(others.verify(token)).toEqual({ ...claims, iat: NOW / 1000 });
  });

  it('an id cannot be that of two keys', () => {
    const keys = readJwtKeys(JSON.stringify([{ ...oct, key_ops: ['verify'] }]));
    expect(() => accessTokens({ secret: 's'.repeat(32), keys, keyId: 'shared' })).toThrow(/JWT_KEY_ID/);
  });

  it('a shared key signs with its kid', () => {
    const tokens = tokensOf({ ...oct, key_ops: SIGN });
    const token = tokens.sign(claims);
    expect(headerOf(token)).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'shared' });
    expect(tokens.verify(token)).toMatchObject(claims);
    expect(() => accessTokens(SECRET, now).verify(token)).toThrow('signature is invalid');
  });

  it('without a key that signs the secret does, with the kid it was given', () => {
    const tokens = accessTokens({ secret: SECRET, keys: read(publicJwk('RS256')), keyId: 'main' }, now);
    const token = tokens.sign(claims);
    expect(headerOf(token)).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'main' });
    expect(tokens.verify(token)).toMatchObject(claims);
    expect(accessTokens(SECRET, now).verify(token)).toMatchObject(claims);
  });
});

describe('rotation of keys', () => {
  const old = accessTokens(SECRET, now).sign(claims);
  it('tokens of the secret go on verifying after a key took over', () => {
    expect(tokensOf(privateJwk('ES256', { key_ops: SIGN })).verify(old)).toMatchObject(claims);
  });

  it('tokens of a key verify while it is listed, and not after', () => {
    const token = tokensOf(privateJwk('RS256', { key_ops: SIGN })).sign(claims);
    const next = tokensOf(
      privateJwk('ES256', { key_ops: SIGN }),
      publicJwk('RS256', { key_ops: ['verify'] }),
    );
    expect(next.verify(token)).toMatchObject(claims);
    expect(() => tokensOf(privateJwk('ES256', { key_ops: SIGN })).verify(token)).toThrow(
      'token is unverifiable: unrecognized JWT kid RS256',
    );
  });
});

describe('accepted algorithms', () => {
  const keys = read(privateJwk('ES256', { key_ops: SIGN }), oct);
  const strict = accessTokens({ secret: SECRET, keys, algorithms: ['ES256'] }, now);
  it('tokens of others are refused, whatever key they are of', () => {
    expect(strict.verify(strict.sign(claims))).toMatchObject(claims);
    expect(() => strict.verify(accessTokens(SECRET, now).sign(claims))).toThrow(
      'signing method is not allowed',
    );
    const shared = forged({ alg: 'HS256', kid: 'shared' }, hmac(Buffer.from(oct.k, 'base64url')));
    expect(tokensOf(oct).verify(shared)).toMatchObject(claims);
    expect(() => strict.verify(shared)).toThrow('signing method is not allowed');
  });

  it('which our own tokens must be among', () => {
    expect(() => accessTokens({ secret: SECRET, algorithms: ['ES256'] })).toThrow(
      'tokens are signed with HS256, which is not among the accepted ES256',
    );
  });
});

describe('attacks', () => {
  const tokens = tokensOf(privateJwk('RS256', { key_ops: SIGN }), publicJwk('ES256'), oct);
  const spki = pairs.RS256.publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const attackersJwk = attacker.publicKey.export({ format: 'jwk' });
  const rsa = (signed: string): Buffer => sign('sha256', Buffer.from(signed), attacker.privateKey);
  const good = tokens.sign(claims);

  it('the real one is accepted, or the table would prove nothing', () => {
    expect(tokens.verify(good)).toMatchObject(claims);
  });

  test.each([
    ['HS/RS confusion: the public key as PEM', forged({ alg: 'HS256', kid: 'RS256' }, hmac(spki))],
    [
      'HS/RS confusion: PEM without its last line end',
      forged({ alg: 'HS256', kid: 'RS256' }, hmac(spki.trim())),
    ],
    [
      'HS/RS confusion: the public key as DER',
      forged(
        { alg: 'HS256', kid: 'RS256' },
        hmac(pairs.RS256.publicKey.export({ type: 'spki', format: 'der' })),
      ),
    ],
    [
      'HS/RS confusion: the modulus',
      forged({ alg: 'HS256', kid: 'RS256' }, hmac(publicJwk('RS256').n ?? '')),
    ],
    ['HS/RS confusion without a kid', forged({ alg: 'HS256' }, hmac(spki))],
    [
      'HS/RS confusion: the secret with the kid of another key',
      forged({ alg: 'HS256', kid: 'RS256' }, hmac(SECRET)),
    ],
    ['RS256 under the kid of the shared key', forged({ alg: 'RS256', kid: 'shared' }, rsa)],
    ['RS256 under the kid of an EC key', forged({ alg: 'RS256', kid: 'ES256' }, rsa)],
    ['RS256 without a kid', forged({ alg: 'RS256' }, rsa)],
    ['alg none', forged({ alg: 'none' }, () => Buffer.alloc(0))],
    ['alg none under a known kid', forged({ alg: 'none', kid: 'RS256' }, () => Buffer.alloc(0))],
    ['alg NONE', forged({ alg: 'NONE', kid: 'RS256' }, () => Buffer.alloc(0))],
    ['no alg', forged({ kid: 'RS256' }, rsa)],
    ['alg of another type', forged({ alg: ['HS256'], kid: 'shared' }, rsa)],
    ['an embedded jwk', forged({ alg: 'RS256', jwk: attackersJwk }, rsa)],
    ['an embedded jwk under a known kid', forged({ alg: 'RS256', kid: 'RS256', jwk: attackersJwk }, rsa)],
    [
      'jku and x5u',
      forged({ alg: 'RS256', kid: 'x', jku: 'https://evil.example/jwks', x5u: 'https://evil.example' }, rsa),
    ],
    ['kid: a path', forged({ alg: 'HS256', kid: '../../../../dev/null' }, hmac(''))],
    ['kid: SQL', forged({ alg: 'HS256', kid: "x' union select 'secret" }, hmac('secret'))],
    ['kid: a member of every object', forged({ alg: 'RS256', kid: '__proto__' }, rsa)],
    ['kid: constructor', forged({ alg: 'RS256', kid: 'constructor' }, rsa)],
    ['kid: no text', forged({ alg: 'HS256', kid: 7 }, hmac(SECRET))],
    ['kid: null', forged({ alg: 'HS256', kid: null }, hmac(SECRET))],
    ['kid: an object', forged({ alg: 'RS256', kid: { toString: 'RS256' } }, rsa)],
    ['a header that is a list', forged([], hmac(SECRET))],
    ['a header that is no JSON', `${Buffer.from('{').toString('base64url')}.${part(claims)}.AAAA`],
    ['a huge header', forged({ alg: 'HS256', x: 'y'.repeat(10_000) }, hmac(SECRET))],
    ['one part', 'abc'],
    ['a signature cut off', good.slice(0, good.lastIndexOf('.') + 1)],
    [
      'a signature of other claims',
      `${good.split('.')[0]}.${part({ ...claims, role: 'service_role' })}.${good.split('.')[2]}`,
    ],
    [
      'an ES256 signature of zeros (CVE-2022-21449)',
      forged({ alg: 'ES256', kid: 'ES256' }, () => Buffer.alloc(64)),
    ],
  ])('%s is refused', (_name, token) => {
    expect(() => tokens.verify(token)).toThrow(InvalidAccessToken);
  });

  it('an unknown kid is repeated without what could break a log or an answer', () => {
    expect(() => tokens.verify(forged({ alg: 'RS256', kid: 'a\r\n<b>"' }, rsa))).toThrow(
      /^token is unverifiable: unrecognized JWT kid a\?\?\?b\?\?$/,
    );
  });

  it('a token of the secret with an unknown kid is one of the secret', () => {
    expect(tokens.verify(forged({ alg: 'HS256', kid: 'long gone' }, hmac(SECRET)))).toMatchObject(claims);
  });
});

describe('what others see', () => {
  it('public keys only, with nothing private in them', () => {
    const tokens = tokensOf(
      privateJwk('RS256', { key_ops: SIGN, 'x-note': 'private note' }),
      privateJwk('ES256'),
      publicJwk('EdDSA'),
      oct,
    );
    expect(tokens.publicKeys.map(({ kid, alg, use }) => ({ kid, alg, use }))).toEqual([
      { kid: 'RS256', alg: 'RS256', use: 'sig' },
      { kid: 'ES256', alg: 'ES256', use: 'sig' },
      { kid: 'EdDSA', alg: 'EdDSA', use: 'sig' },
    ]);
    const names = new Set(tokens.publicKeys.flatMap((key) => Object.keys(key)));
    expect([...names].sort()).toEqual(['alg', 'crv', 'e', 'key_ops', 'kid', 'kty', 'n', 'use', 'x', 'y']);
    for (const key of tokens.publicKeys) expect(createPublicKey({ key, format: 'jwk' }).type).toBe('public');
  });

  it('a secret alone publishes nothing', () => {
    expect(accessTokens(SECRET).publicKeys).toEqual([]);
  });
});

describe('JWT_KEYS is refused', () => {
  const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const smallExponent = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicExponent: 3,
  }).publicKey.export({
    format: 'jwk',
  });
  const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });

  test.each<[string, unknown, string]>([
    ['nothing', [], 'expected 1 to 32 keys'],
    ['a text', 'key', 'expected a JSON array of JSON Web Keys'],
    ['a key alone', privateJwk('RS256'), 'expected a JSON array of JSON Web Keys'],
    ['a key that is none', [7], 'key 1 is no JSON object'],
    ['no kid', [{ ...oct, kid: undefined }], 'key 1 needs a `kid`'],
    [
      'a duplicate kid',
      [privateJwk('RS256'), publicJwk('ES256', { kid: 'RS256' })],
      'two keys have the kid "RS256"',
    ],
    [
      'two that sign',
      [privateJwk('RS256', { key_ops: SIGN }), privateJwk('ES256', { key_ops: SIGN })],
      'only one key may have `sign` in its key_ops, not "RS256" and "ES256"',
    ],
    [
      'a weak RSA key',
      [{ ...weakRsa, kid: 'weak' }],
      'the key "weak" is too weak: 1024 bits, RS256 needs 2048',
    ],
    ['a small exponent', [{ ...smallExponent, kid: 'e3' }], 'the key "e3" is too weak: its exponent'],
    ['alg against kty', [publicJwk('RS256', { alg: 'HS256' })], 'has alg HS256, which needs an `oct` key'],
    ['kty against alg', [{ ...oct, alg: 'RS256' }], 'has alg RS256, which needs an RSA key'],
    ['another curve', [{ ...p384, kid: 'p384' }], 'which needs an EC key on the curve P-256'],
    [
      'an algorithm of another kind',
      [publicJwk('RS256', { alg: 'RSA-OAEP' })],
      'needs an `alg` of HS256, RS256',
    ],
    ['alg none', [{ ...oct, alg: 'none' }], 'needs an `alg` of'],
    ['a key for encryption', [publicJwk('RS256', { use: 'enc' })], '`use` must be `sig`'],
    ['other operations', [publicJwk('RS256', { key_ops: ['decrypt'] })], 'may have only `sign` and `verify`'],
    [
      'a public key that signs',
      [publicJwk('RS256', { key_ops: SIGN })],
      'shall sign but has no private part',
    ],
    ['a short secret', [{ ...oct, k: 'c2hvcnQ' }], 'is too short: 32 bytes at least'],
    ['a secret that is no base64url', [{ ...oct, k: 'no base64!' }], 'has no `k` in base64url'],
    ['half a key', [{ kty: 'RSA', kid: 'half', e: 'AQAB' }], 'cannot be read'],
    [
      'parts of two keys',
      [privateJwk('ES256', { d: otherEc.d, key_ops: SIGN })],
      'cannot be read|another public part',
    ],
  ])('%s', (_name, value, reason) => {
    expect(() => readJwtKeys(JSON.stringify(value))).toThrow(
      new RegExp(reason.includes('|') ? reason : escape(reason)),
    );
  });

  it('without quoting what may be a secret', () => {
    const text = '[{"kty":"oct","k":"very secret text"';
    expect(() => readJwtKeys(text)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('secret') }),
    );
  });

  it('and a set of keys is read like an array', () => {
    expect(readJwtKeys(JSON.stringify({ keys: [oct] })).all).toHaveLength(1);
  });
});

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
