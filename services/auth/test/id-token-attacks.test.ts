import { type JsonWebKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Answer, confirmedUser, JWT_SECRET, startSubject } from './harness.ts';
import { type Claims, clientOf, idTokenSubject, NONCE } from './support/id-token-subject.ts';
import { hashedNonce, issuerKey, signIdToken, signWithSecret, unsigned } from './support/issuer-emulator.ts';

const { issuers, subject, claimsOf, key, tokenOf, present } = await idTokenSubject();
const victim = await confirmedUser(subject);
/** What would let in as the victim. */
const target = (more: Claims = {}) => claimsOf('google', { email: victim.body.user?.email, ...more });
const isBad = (answer: Answer) => {
  expect([answer.status, answer.body['msg']]).toEqual([400, 'Bad ID token']);
  // Which check failed is nobody's business.
  expect(answer.body['error_description']).toBe('Bad ID token');
};
const foreign = issuerKey('RS256');
const seconds = () => Math.floor(subject.clock.now().getTime() / 1000);

describe('forged tokens', () => {
  const pem = () => key().publicKey.export({ type: 'spki', format: 'pem' });
  const jwk = (): JsonWebKey => ({ ...foreign.publicKey.export({ format: 'jwk' }), kid: foreign.kid });
  const { kid } = key();
  test.each<[string, () => string]>([
    ['alg none', () => `${unsigned({ alg: 'none', kid }, target())}.`],
    ['alg none with a signature', () => `${unsigned({ alg: 'none', kid }, target())}.AAAA`],
    ['alg None', () => `${unsigned({ alg: 'None', kid }, target())}.AAAA`],
    ['HS256 with the public key as PEM', () => signWithSecret(pem(), { kid }, target())],
    [
      'HS256 with the public key as JWK',
      () => signWithSecret(JSON.stringify(key().publicKey.export({ format: 'jwk' })), { kid }, target()),
    ],
    ['HS256 with the client secret', () => signWithSecret('secret', { kid }, target())],
    ['HS256 with our own secret', () => signWithSecret(JWT_SECRET, { kid }, target())],
    [
      'HS256 with the empty secret and a file for a kid',
      () => signWithSecret('', { kid: '../../../../dev/null' }, target()),
    ],
    ['a kid that is a path', () => signIdToken(foreign, target(), { kid: `../${kid}` })],
    ['a kid that is SQL', () => signIdToken(foreign, target(), { kid: "' or 1=1 --" })],
    ['a kid that is an address', () => signIdToken(foreign, target(), { kid: `${issuers.url}/evil/keys` })],
    ['a kid that is no text', () => signIdToken(foreign, target(), { kid: [kid] })],
    ['a kid every object has', () => signIdToken(foreign, target(), { kid: '__proto__' })],
    ['no kid', () => signIdToken(foreign, target(), { kid: undefined })],
    ['a key of its own', () => signIdToken(foreign, target(), { jwk: jwk() })],
    ['an address for keys', () => signIdToken(foreign, target(), { jku: `${issuers.url}/evil/keys` })],
    [
      'a certificate of its own',
      () => signIdToken(foreign, target(), { x5u: `${issuers.url}/evil/keys`, x5c: ['AAAA'] }),
    ],
    ['somebody else’s key under the kid of the issuer', () => signIdToken({ ...foreign, kid }, target())],
    ['the key of another algorithm', () => signIdToken(key(), target(), { alg: 'PS256' })],
    ['a critical extension', () => signIdToken(key(), target(), { crit: ['b64'], b64: false })],
    [
      'changed claims',
      () =>
        tokenOf('google').replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify(target())).toString('base64url')}.`,
        ),
    ],
    ['an encrypted token', () => `${tokenOf('google')}.AAAA.AAAA`],
    ['no token at all', () => 'garbage'],
    ['our own access token', () => String(victim.body.access_token)],
  ])('%s', async (_name, make) => {
    const before = await subject.snapshot();
    isBad(await present(make()));
    expect(await subject.snapshot()).toBe(before);
    expect(issuers.asked.filter((path) => path.startsWith('evil'))).toEqual([]);
  });
});

describe('tokens of others', () => {
  test.each<[string, Claims, object?]>([
    ['a foreign issuer', { iss: 'https://evil.example' }],
    ['an issuer that begins alike', { iss: `${issuers.baseOf('google')}.evil.example` }],
    ['an issuer with a slash more', { iss: `${issuers.baseOf('google')}/` }],
    ['no issuer', { iss: undefined }],
    [
      'provider mix-up: the token of another provider with the same keys',
      { iss: issuers.baseOf('keycloak') },
    ],
    ['provider mix-up: the other way round', {}, { provider: 'keycloak' }],
    [
      'provider mix-up: a tenant nobody named',
      { iss: `${issuers.baseOf('azure')}/evil/v2.0`, tid: 'evil' },
      { provider: 'azure' },
    ],
    [
      'provider mix-up: a tenant that another claim does not confirm',
      {
        iss: `${issuers.baseOf('azure')}/11111111-2222-3333-4444-555555555555/v2.0`,
        tid: '11111111-2222-3333-4444-000000000000',
      },
      { provider: 'azure' },
    ],
    ['an issuer of the operator for a provider', {}, { provider: 'apple', issuer: issuers.baseOf('google') }],
    ['expired', { exp: -61 }],
    ['no end', { exp: undefined }],
    ['an end that is text', { exp: '99999999999' }],
    ['from the future', { iat: 61 }],
    ['not valid yet', { nbf: 61 }],
    ['as old as a day, however late it ends', { iat: -24 * 3600 }],
    ['of no known age', { iat: undefined }],
  ])('%s', async (_name, claims, body) => {
    const times = Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [
        name,
        typeof value === 'number' ? seconds() + value : value,
      ]),
    );
    const before = await subject.snapshot();
    isBad(await present(signIdToken(key(), target(times)), { ...body }));
    expect(await subject.snapshot()).toBe(before);
  });

  test.each<[string, Claims, string]>([
    ['another client', { aud: 'evil' }, '[evil]'],
    ['a client of another provider', { aud: clientOf('apple') }, `[${clientOf('apple')}]`],
    ['a part of our id', { aud: clientOf('google').slice(0, -1) }, `[${clientOf('google').slice(0, -1)}]`],
    [
      'all our ids as one',
      { aud: `${clientOf('google')}, second client of google` },
      `[${clientOf('google')}, second client of google]`,
    ],
    ['nobody', { aud: undefined }, '[]'],
    ['the empty client', { aud: '' }, '[]'],
    ['an object', { aud: { [clientOf('google')]: true } }, '[]'],
    ['us and another, who asked for it', { aud: [clientOf('google'), 'evil'], azp: 'evil' }, '[evil]'],
    [
      'us and another, and nobody asked for it',
      { aud: [clientOf('google'), 'evil'] },
      `[${clientOf('google')} evil]`,
    ],
  ])('meant for %s', async (_name, claims, shown) => {
    const before = await subject.snapshot();
    const answer = await present(signIdToken(key(), target(claims)));
    expect([answer.status, answer.body['msg']]).toEqual([400, `Unacceptable audience in id_token: ${shown}`]);
    expect(await subject.snapshot()).toBe(before);
  });

  test('a stolen token is worth nothing without the nonce that it shows the hash of', async () => {
    const stolen = tokenOf('google', { email: victim.body.user?.email });
    const before = await subject.snapshot();
    for (const nonce of ['', hashedNonce(NONCE), 'a guess']) {
      expect((await present(stolen, { nonce })).status).toBe(400);
    }
    expect(await subject.snapshot()).toBe(before);
  });

  test('a token without a subject', async () => {
    const before = await subject.snapshot();
    for (const sub of [undefined, '', 17]) {
      const answer = await present(signIdToken(key(), target({ sub })));
      expect([answer.status, answer.body['msg']]).toEqual([400, 'Missing sub claim in id_token']);
    }
    for (const sub of ['a'.repeat(256), 'a\0b', 'a\nb'])
      isBad(await present(signIdToken(key(), target({ sub }))));
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('bad input', () => {
  test.each<[object, number, string, string]>([
    [{}, 400, 'validation_failed', 'id_token required'],
    [{ id_token: 'x' }, 400, 'validation_failed', 'provider or client_id and issuer required'],
    [
      { id_token: 'x', issuer: 'https://x.example' },
      400,
      'validation_failed',
      'provider or client_id and issuer required',
    ],
    [
      { id_token: 'x', provider: 'custom:evil' },
      400,
      'validation_failed',
      'Custom OIDC provider "custom:evil" not allowed',
    ],
    [
      { id_token: 'x', provider: 'github' },
      400,
      'validation_failed',
      'Custom OIDC provider "github" not allowed',
    ],
    [
      { id_token: 'x', provider: '__proto__' },
      400,
      'validation_failed',
      'Custom OIDC provider "__proto__" not allowed',
    ],
    [
      { id_token: 'x', issuer: 'http://169.254.169.254', client_id: 'x' },
      400,
      'validation_failed',
      'Custom OIDC provider "http://169.254.169.254" not allowed',
    ],
    [{ id_token: 'x'.repeat(40_000), provider: 'google' }, 400, 'validation_failed', 'Bad ID token'],
  ])('%j', async (body, status, code, msg) => {
    const before = await subject.snapshot();
    const answer = await subject.post('/token?grant_type=id_token', body);
    expect([answer.status, answer.body['error_code'], answer.body['msg']]).toEqual([status, code, msg]);
    expect(await subject.snapshot()).toBe(before);
    expect(issuers.asked).toEqual([]);
  });

  test('a provider that is not enabled', async () => {
    await using other = await startSubject();
    const answer = await other.post('/token?grant_type=id_token', { provider: 'google', id_token: 'x' });
    expect([answer.status, answer.body['error_code'], answer.body['msg']]).toEqual([
      400,
      'provider_disabled',
      'Provider (issuer "https://accounts.google.com") is not enabled',
    ]);
    const azure = { issuer: 'https://login.microsoftonline.com/evil/v2.0', client_id: 'x', id_token: 'x' };
    expect((await other.post('/token?grant_type=id_token', azure)).body['error_code']).toBe(
      'provider_disabled',
    );
  });

  test('claims that the database cannot keep', async () => {
    const claims = { name: 'a\0b\ud800', custom: { deep: [[['\0']]] }, email: 'no address', __proto__: 1 };
    const before = await subject.snapshot();
    expect((await present(tokenOf('google', claims))).status).toBe(400);
    expect(await subject.snapshot()).toBe(before);
    const kept = await present(tokenOf('google', { ...claims, email: 'ada-of-nul@example.com' }));
    expect([kept.status, kept.body.user?.['user_metadata']]).toMatchObject([200, { name: 'ab\ufffd' }]);
  });
});
