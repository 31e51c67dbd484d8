import { createHmac, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { accessTokens, InvalidAccessToken, readJwtKeys } from './index.ts';

// Where tokens are only verified, the public parts of the keys suffice.

const NOW = Date.parse('2026-01-01T00:00:00Z');
const now = (): number => NOW;
const claims = { role: 'authenticated', exp: NOW / 1000 + 3600 };
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const traits = { kid: 'one', alg: 'ES256' };
const read = (jwk: JsonWebKey, more: object = {}) =>
  readJwtKeys(JSON.stringify([{ ...jwk, ...traits, ...more }]));
const publicKeys = read(pair.publicKey.export({ format: 'jwk' }));
const issuer = accessTokens(
  { secret: 'of auth alone', keys: read(pair.privateKey.export({ format: 'jwk' }), { key_ops: ['sign'] }) },
  now,
);
const ofSecret = (secret: string): string => accessTokens(secret, now).sign(claims);

function forged(header: object, key: string): string {
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

describe('keys without a secret', () => {
  const verifying = accessTokens({ secret: undefined, keys: publicKeys }, now);

  it('verify what one of them signed', () => {
    expect(verifying.verify(issuer.sign(claims))).toEqual({ ...claims, iat: NOW / 1000 });
    const strict = accessTokens({ secret: undefined, keys: publicKeys, algorithms: ['ES256'] }, now);
    expect(strict.verify(issuer.sign(claims))).toMatchObject(claims);
  });

  it.each([
    ['any secret', ofSecret('x'.repeat(40))],
    ['the word undefined', forged({ alg: 'HS256' }, 'undefined')],
    ['nothing', forged({ alg: 'HS256' }, '\0')],
    ['a secret, under the name of a key', forged({ alg: 'HS256', kid: 'one' }, 'x')],
    ['a secret, under an unknown name', forged({ alg: 'HS256', kid: 'two' }, 'x')],
    [
      'the public key as a secret',
      forged({ alg: 'HS256', kid: 'one' }, pair.publicKey.export({ type: 'spki', format: 'pem' }) as string),
    ],
    ['no algorithm', `${forged({ alg: 'none' }, 'x').split('.').slice(0, 2).join('.')}.`],
  ])('attack: refuse a token signed with %s', (_name, token) => {
    expect(() => verifying.verify(token)).toThrow(InvalidAccessToken);
  });

  it('sign nothing unless one of them does', () => {
    expect(() => verifying.sign(claims)).toThrow('there is no key to sign tokens with');
    const keys = read(pair.privateKey.export({ format: 'jwk' }), { key_ops: ['sign'] });
    const token = accessTokens({ secret: undefined, keys }, now).sign(claims);
    expect(verifying.verify(token)).toMatchObject(claims);
  });

  it('without keys either nothing works', () => {
    expect(() => accessTokens({ secret: undefined })).toThrow('neither a secret nor a key');
  });
});
