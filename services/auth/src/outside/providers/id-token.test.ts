import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { OutgoingHttp } from '@croft/http/outgoing';
import { expect, test } from 'vitest';
import { verifyIdToken } from './id-token.ts';
import type { Client } from './provider.ts';
import { remoteKeys } from './remote-keys.ts';

const ISSUER = 'https://issuer.example';
let time = Date.parse('2026-01-02T03:04:05.678Z');
const clock = { now: () => new Date(time) };
const now = Math.floor(clock.now().getTime() / 1000);
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });

const jwk = (key: KeyObject, kid: string, more = {}) => ({ ...key.export({ format: 'jwk' }), kid, ...more });
const set = {
  keys: [
    jwk(rsa.publicKey, 'rsa', { use: 'sig' }),
    jwk(weak.publicKey, 'weak'),
    jwk(ec.publicKey, 'ec'),
    jwk(other.publicKey, 'encrypts', { use: 'enc' }),
    { kty: 'oct', kid: 'oct', k: 'c2VjcmV0' },
    { kty: 'nonsense', kid: 'nonsense' },
  ],
};
let asked = 0;
const http: OutgoingHttp = async () => {
  asked++;
  return { status: 200, headers: new Headers(), text: '', json: () => set };
};
const client: Client = {
  id: 'client',
  secret: 'secret',
  redirectUri: 'https://auth.example/callback',
  url: undefined,
  skipNonceCheck: false,
  http,
  clock,
};
const good = { iss: ISSUER, aud: 'client', sub: '1', exp: now + 60, iat: now, nonce: 'n' };

function token(header: object, claims: object, key: KeyObject = rsa.privateKey): string {
  const parts = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(parts), { key, dsaEncoding: 'ieee-p1363' });
  return `${parts}.${signature.toString('base64url')}`;
}
function hmacToken(secret: string | Buffer): string {
  const parts = [{ alg: 'HS256', kid: 'rsa' }, good]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${parts}.${createHmac('sha256', secret).update(parts).digest('base64url')}`;
}
const check = (text: unknown, who: Client = client, keys = remoteKeys(who)('https://issuer.example/keys')) =>
  verifyIdToken(text, who, { isIssuer: (name) => name === ISSUER, keys }, 'n', AbortSignal.timeout(1000));
const RS = { alg: 'RS256', kid: 'rsa' };

test('takes RS256 and ES256', async () => {
  expect(await check(token(RS, good))).toEqual(good);
  expect(await check(token({ alg: 'ES256', kid: 'ec' }, good, ec.privateKey))).toEqual(good);
  const several = { ...good, aud: ['other', 'client'], azp: 'client' };
  expect(await check(token(RS, several))).toEqual(several);
});

test('clocks may differ by a minute', async () => {
  expect(await check(token(RS, { ...good, iat: now + 59, nbf: now + 59, exp: now - 59 }))).toBeDefined();
});

test('the nonce check can be switched off', async () => {
  const skipping = { ...client, skipNonceCheck: true };
  expect(await check(token(RS, { ...good, nonce: 'another' }), skipping)).toBeDefined();
});

const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
test.each([
  ['nothing', undefined],
  ['an object', {}],
  ['text', 'not.a.token'],
  ['too much text', `${'a'.repeat(40_000)}.b.c`],
  ['five parts', `${token(RS, good)}.d.e`],
  ['alg none', `${token({ alg: 'none', kid: 'rsa' }, good).split('.').slice(0, 2).join('.')}.`],
  ['alg none with a signature', token({ alg: 'none', kid: 'rsa' }, good)],
  ['alg HS256 with the public key as secret', hmacToken(pem)],
  ['alg HS256 with the client secret', hmacToken('secret')],
  ['alg ES256 with the RSA key', token({ alg: 'ES256', kid: 'rsa' }, good)],
  ['alg RS256 with the EC key', token({ alg: 'RS256', kid: 'ec' }, good, ec.privateKey)],
  ['alg RS384', token({ alg: 'RS384', kid: 'rsa' }, good)],
  ['a short RSA key', token({ alg: 'RS256', kid: 'weak' }, good, weak.privateKey)],
  ['a key for encryption', token({ alg: 'RS256', kid: 'encrypts' }, good, other.privateKey)],
  ['a symmetric key of the set', token({ alg: 'RS256', kid: 'oct' }, good)],
  ['an unknown key', token({ alg: 'RS256', kid: 'unknown' }, good)],
  ['no kid', token({ alg: 'RS256' }, good)],
  ['a key in the header', token({ ...RS, kid: 'x', jwk: jwk(other.publicKey, 'x') }, good, other.privateKey)],
  ['somebody else’s signature', token(RS, good, other.privateKey)],
  ['a critical extension', token({ ...RS, crit: ['b64'] }, good)],
  ['another issuer', token(RS, { ...good, iss: 'https://issuer.example.evil.example' })],
  ['no issuer', token(RS, { ...good, iss: undefined })],
  ['another audience', token(RS, { ...good, aud: 'client2' })],
  ['no audience', token(RS, { ...good, aud: undefined })],
  ['an audience that is an object', token(RS, { ...good, aud: { client: true } })],
  ['issued to another client', token(RS, { ...good, aud: ['client', 'evil'], azp: 'evil' })],
  ['several audiences, issued to nobody', token(RS, { ...good, aud: ['client', 'evil'] })],
  ['expired', token(RS, { ...good, exp: now - 61 })],
  ['no exp', token(RS, { ...good, exp: undefined })],
  ['exp as text', token(RS, { ...good, exp: '9999999999' })],
  ['from the future', token(RS, { ...good, iat: now + 61 })],
  ['not valid yet', token(RS, { ...good, nbf: now + 61 })],
  ['another nonce', token(RS, { ...good, nonce: 'm' })],
  ['no nonce', token(RS, { ...good, nonce: undefined })],
])('refuses %s', async (_name, text) => {
  await expect(check(text)).rejects.toMatchObject({ name: 'ProviderRefused', step: 'profile' });
});

test('keys are kept for an hour, and asked for again at most once a minute for one that is not there', async () => {
  const keys = remoteKeys(client)('https://issuer.example/other-keys');
  const signal = AbortSignal.timeout(1000);
  const before = asked;
  for (let i = 0; i < 3; i++) await keys.find('rsa', 'RS256', signal);
  expect(asked - before).toBe(1);
  for (let i = 0; i < 3; i++) expect(await keys.find('unknown', 'RS256', signal)).toBeUndefined();
  expect(asked - before).toBe(1);
  time += 61_000;
  for (let i = 0; i < 3; i++) await keys.find('unknown', 'RS256', signal);
  expect(asked - before).toBe(2);
  time += 3_600_000;
  await keys.find('rsa', 'RS256', signal);
  expect(asked - before).toBe(3);
});
