import { generateKeyPairSync } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { describe, expect, test } from 'vitest';
import { PASSWORD, type Subject, someone, startSubject } from './harness.ts';

const ISSUER = 'https://auth.example';
const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
};
type Alg = keyof typeof pairs;
const algs = Object.keys(pairs) as Alg[];
const keys = (signing: Alg, ...others: Alg[]) =>
  JSON.stringify(
    [signing, ...others].map((alg) => ({
      ...pairs[alg].privateKey.export({ format: 'jwk' }),
      kid: `key ${alg}`,
      alg,
      key_ops: alg === signing ? ['sign', 'verify'] : ['verify'],
    })),
  );
const start = (more: Record<string, string>) =>
  startSubject({
    AUTHSVC_JWT_ISSUER: ISSUER,
    AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    // The id of a client is the audience that libraries look for.
    AUTHSVC_JWT_AUD: 'web',
    ...more,
  });
/** Libraries ask the service as if it stood at its address. */
const through = (subject: Subject) => async (url: string | URL | Request) => {
  const { pathname, search, origin } = new URL(url instanceof Request ? url.url : url);
  expect(origin).toBe(ISSUER);
  const answer = await subject.app.inject({ method: 'GET', url: pathname + search });
  return new Response(answer.body, {
    status: answer.statusCode,
    headers: { 'content-type': String(answer.headers['content-type']) },
  });
};
const accessToken = async (subject: Subject) =>
  String((await subject.post('/signup', { email: someone(), password: PASSWORD })).body.access_token);

/** A token answer of the kind the library checks: claims by what is expected of them, the signature by our keys. */
async function verify(subject: Subject, token: string): Promise<oauth.IDToken | undefined> {
  const issuer = new URL(ISSUER);
  const fetch = through(subject);
  const found = await oauth.discoveryRequest(issuer, { [oauth.customFetch]: fetch });
  const server = await oauth.processDiscoveryResponse(issuer, found);
  const answer = () =>
    new Response(JSON.stringify({ access_token: 'x', token_type: 'bearer', id_token: token }), {
      headers: { 'content-type': 'application/json' },
    });
  // Its clock is not the test's.
  const skew = Math.round((subject.clock.now().getTime() - Date.now()) / 1000);
  const app: oauth.Client = { client_id: 'web', [oauth.clockSkew]: skew };
  const response = answer();
  const result = await oauth.processGenericTokenEndpointResponse(
    server,
    { ...app, id_token_signed_response_alg: headerOf(token).alg },
    response,
  );
  await oauth.validateApplicationLevelSignature(server, response, { [oauth.customFetch]: fetch });
  return oauth.getValidatedIdTokenClaims(result);
}
const headerOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { alg: string; kid: string };

test('the document is complete, and caches are told how long', async () => {
  await using subject = await start({ AUTHSVC_JWT_KEYS: keys('ES256', 'RS256') });
  const answer = await subject.get('/.well-known/openid-configuration');
  expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
    200,
    'application/json',
    'public, max-age=600',
  ]);
  expect(answer.body).toMatchObject({
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/.well-known/jwks.json`,
    authorization_endpoint: `${ISSUER}/oauth/authorize`,
    token_endpoint: `${ISSUER}/oauth/token`,
    userinfo_endpoint: `${ISSUER}/oauth/userinfo`,
    subject_types_supported: ['public'],
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
  });
  for (const member of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint']) {
    const { pathname } = new URL(String(answer.body[member]));
    const method = pathname === '/oauth/token' ? 'POST' : 'GET';
    expect([401, 404]).toContain(
      (await subject.send(method, pathname, method === 'GET' ? undefined : '{}')).status,
    );
  }
});

test('without JWT_ISSUER it is the address of the service, below the path of its proxy', async () => {
  await using subject = await startSubject({ AUTHSVC_API_EXTERNAL_URL: 'https://api.example/auth/v1' });
  const { body: document } = await subject.get('/openapi.json');
  expect(document['servers']).toEqual([{ url: '/auth/v1' }]);
  expect((await subject.get('/.well-known/openid-configuration')).body).toMatchObject({
    issuer: 'https://api.example/auth/v1',
    jwks_uri: 'https://api.example/auth/v1/.well-known/jwks.json',
  });
});

test('with a shared secret alone there is no key, and the document says which algorithm', async () => {
  await using subject = await start({});
  expect((await subject.get('/.well-known/openid-configuration')).body).toMatchObject({
    id_token_signing_alg_values_supported: ['HS256'],
  });
  expect((await subject.get('/.well-known/jwks.json')).body).toEqual({ keys: [] });
});

test('openid-client finds everything by the issuer', async () => {
  await using subject = await start({ AUTHSVC_JWT_KEYS: keys('RS256') });
  const found = await client.discovery(new URL(ISSUER), 'web', undefined, undefined, {
    [client.customFetch]: through(subject) as client.CustomFetch,
  });
  expect(found.serverMetadata()).toMatchObject({
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/.well-known/jwks.json`,
  });
  expect(found.serverMetadata().supportsPKCE()).toBe(true);
});

describe.each(algs)('oauth4webapi verifies tokens signed with %s', (alg) => {
  test('by the published keys, also while they are rotated', async () => {
    const next = algs[(algs.indexOf(alg) + 1) % algs.length] as Alg;
    await using before = await start({ AUTHSVC_JWT_KEYS: keys(alg, next) });
    const token = await accessToken(before);
    expect(headerOf(token)).toMatchObject({ alg, kid: `key ${alg}` });
    expect(await verify(before, token)).toMatchObject({ iss: ISSUER, aud: 'web', role: 'authenticated' });
    await using after = await start({ AUTHSVC_JWT_KEYS: keys(next, alg) });
    expect(await verify(after, token)).toMatchObject({ iss: ISSUER });
    expect(headerOf(await accessToken(after)).alg).toBe(next);
  });

  test('and no token with another signature, or of another issuer', async () => {
    await using subject = await start({ AUTHSVC_JWT_KEYS: keys(alg) });
    const token = await accessToken(subject);
    const [head, , signature] = token.split('.');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
    const forged = (more: object) =>
      `${head}.${Buffer.from(JSON.stringify({ ...claims, ...more })).toString('base64url')}.${signature}`;
    await expect(verify(subject, forged({ role: 'service_role' }))).rejects.toThrow(/signature/);
    await expect(verify(subject, forged({ iss: 'https://evil.example' }))).rejects.toThrow(/iss/);
    await using foreign = await start({
      AUTHSVC_JWT_KEYS: keys(alg),
      AUTHSVC_JWT_ISSUER: 'https://evil.example',
    });
    await expect(verify(subject, await accessToken(foreign))).rejects.toThrow(/iss/);
  });
});
