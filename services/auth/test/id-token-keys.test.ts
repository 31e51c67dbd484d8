import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, startSubject } from './harness.ts';
import { idTokenSubject, NONCE } from './support/id-token-subject.ts';
import { issuerKey, signIdToken, signWithSecret } from './support/issuer-emulator.ts';
import { json } from './support/provider-emulator.ts';

const { issuers, subject, claimsOf, key, tokenOf, present } = await idTokenSubject();
const isBad = (answer: Answer) => {
  expect([answer.status, answer.body['msg']]).toEqual([400, 'Bad ID token']);
};

describe('keys', () => {
  beforeEach(() => {
    // What was asked for before this test is too old by now.
    subject.clock.advance(3_600_000);
  });

  test('are asked for once by all who come at the same moment, and kept for an hour', async () => {
    await Promise.all(Array.from({ length: 8 }, () => present(tokenOf('google'))));
    expect(issuers.asked.filter((path) => path === 'google/keys')).toHaveLength(1);
    subject.clock.advance(3_599_000);
    expect((await present(tokenOf('google'))).status).toBe(200);
    expect(issuers.asked.filter((path) => path === 'google/keys')).toHaveLength(1);
    subject.clock.advance(1_000);
    await present(tokenOf('google'));
    expect(issuers.asked.filter((path) => path === 'google/keys')).toHaveLength(2);
  });

  test('that are rotated are found, and those taken away sign nobody in after an hour', async () => {
    const former = key();
    expect((await present(tokenOf('google'))).status).toBe(200);
    issuers.rotate('ES256');
    subject.clock.advance(61_000);
    expect((await present(tokenOf('google'))).status).toBe(200);
    isBad(await present(signIdToken(former, claimsOf('google'))));
    expect(issuers.asked.filter((path) => path === 'google/keys')).toHaveLength(2);
  });

  test('nobody knows make us ask once a minute, whatever the answer', async () => {
    await present(tokenOf('google'));
    const guess = () => present(signIdToken(issuerKey('ES256'), claimsOf('google')));
    for (let i = 0; i < 5; i++) isBad(await guess());
    expect(issuers.asked.filter((path) => path === 'google/keys')).toHaveLength(1);
    subject.clock.advance(61_000);
    issuers.instead.set('google/keys', (response) => void response.writeHead(500).end());
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push((await guess()).status);
    expect(answers).toEqual([503, 400, 400, 400, 400]);
    expect(issuers.asked.filter((path) => path === 'google/keys')).toHaveLength(2);
    expect((await present(tokenOf('google'))).status).toBe(200);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['an error', (response) => void response.writeHead(500).end()],
    ['a page', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['megabytes', (response) => void response.writeHead(200).end('a'.repeat(3_000_000))],
    [
      'a redirect to another server',
      (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
  ])('that cannot be had are no reason to let anybody in: %s', async (_name, answer) => {
    issuers.instead.set('google/keys', answer);
    const before = await subject.snapshot();
    const refused = await present(tokenOf('google'));
    expect([refused.status, refused.body['error_code']]).toEqual([503, 'provider_unavailable']);
    expect(refused.text).not.toContain('127.0.0.1');
    expect(await subject.snapshot()).toBe(before);
  });

  test.each<[string, object, number]>([
    ['no keys', {}, 400],
    ['none', { keys: [] }, 400],
    ['nonsense', { keys: [1, null, { kty: 'EC' }, { kty: 'oct', k: 'AAAA', kid: 'x' }] }, 400],
  ])('a set with %s', async (_name, set, status) => {
    issuers.instead.set('google/keys', json(set));
    expect((await present(tokenOf('google'))).status).toBe(status);
    isBad(await present(signWithSecret(Buffer.from([0, 0, 0]), { kid: 'x' }, claimsOf('google'))));
  });

  test.each([
    ['a server inside, at another address', 'http://127.0.0.1:1/keys'],
    ['the metadata of a cloud', 'http://169.254.169.254/keys'],
    ['a file', 'file:///etc/passwd'],
    ['an address with a password', 'https://ada:secret@issuer.example/keys'],
    ['a private network by https', 'https://10.0.0.1/keys'],
  ])('jwks_uri is %s', async (_name, jwks_uri) => {
    await using inner = await idTokenServer(jwks_uri);
    const before = await inner.subject.snapshot();
    const answer = await inner.present();
    expect([answer.status, answer.body['error_code']]).toEqual([503, 'provider_unavailable']);
    expect(await inner.subject.snapshot()).toBe(before);
  });
});

/** A service whose issuer names other keys. */
async function idTokenServer(jwks_uri: string) {
  const base = issuers.baseOf('moved');
  issuers.instead.set(
    'moved/.well-known/openid-configuration',
    json({ issuer: base, authorization_endpoint: base, token_endpoint: base, jwks_uri }),
  );
  const other = await startSubject({ AUTHSVC_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: `${base} web` });
  other.clock.advance(subject.clock.now().getTime() - other.clock.now().getTime());
  const body = { issuer: base, client_id: 'web', nonce: NONCE, id_token: tokenOf('moved', { aud: 'web' }) };
  return {
    subject: other,
    present: () => other.post('/token?grant_type=id_token', body),
    [Symbol.asyncDispose]: () => other[Symbol.asyncDispose](),
  };
}
