import { generateKeyPairSync } from 'node:crypto';
import { GoTrueClient } from '@supabase/auth-js';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { PASSWORD, someone } from '../harness.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { good, sessionOf } from './here.ts';

// Whoever verifies our tokens with a library, over HTTP, and for longer than a key lives: what it remembers of the keys
// does not outlive a rotation, and no rotation makes tokens of the key before worthless.

const ISSUER = 'https://auth.example';
const AUDIENCE = 'authenticated';
// oxlint-disable-next-line typescript/no-deprecated -- on this machine only
const insecure = { [oauth.allowInsecureRequests]: true } as const;
const keyOf = (kid: string) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  kid,
  alg: 'ES256',
});
const [first, second] = [keyOf('first'), keyOf('second')];
const keys = (...list: object[]) => JSON.stringify(list);
const SIGNS = { key_ops: ['sign', 'verify'] };
const VERIFIES = { key_ops: ['verify'] };

const start = (list: string): Promise<Fleet> =>
  startFleet(['autoconfirm'], { AUTHSVC_JWT_ISSUER: ISSUER, AUTHSVC_JWT_KEYS: list });
const urlOf = (fleet: Fleet) => fleet.serverOf('autoconfirm').url;

async function tokenOf(fleet: Fleet): Promise<string> {
  const auth = new GoTrueClient({ url: urlOf(fleet), autoRefreshToken: false });
  return sessionOf(good(await auth.signUp({ email: someone(), password: PASSWORD }))).access_token;
}

/** The document of a server that does not stand at its public address yet: only where it is asked differs. */
async function discover(fleet: Fleet): Promise<oauth.AuthorizationServer> {
  const document = await fetch(`${urlOf(fleet)}/.well-known/openid-configuration`);
  const server = await oauth.processDiscoveryResponse(new URL(ISSUER), document);
  return { ...server, jwks_uri: `${urlOf(fleet)}/.well-known/jwks.json` };
}

/** A verifier that keeps what it learned of the keys, as a long-lived process does. */
function verifier() {
  const remembered: oauth.JWKSCacheInput = {};
  return {
    remembered,
    verify: async (server: oauth.AuthorizationServer, token: string) => {
      const answer = JSON.stringify({ access_token: 'x', token_type: 'bearer', id_token: token });
      const response = new Response(answer, { headers: { 'content-type': 'application/json' } });
      const result = await oauth.processGenericTokenEndpointResponse(
        server,
        { client_id: AUDIENCE, id_token_signed_response_alg: 'ES256' },
        response,
      );
      const options = { ...insecure, [oauth.jwksCache]: remembered };
      await oauth.validateApplicationLevelSignature(server, response, options);
      return oauth.getValidatedIdTokenClaims(result);
    },
  };
}

test('oauth4webapi: a verifier that remembers the keys goes along with a rotation', async () => {
  const { verify, remembered } = verifier();
  await using before = await start(keys({ ...first, ...SIGNS }));
  const old = await tokenOf(before);
  const server = await discover(before);
  expect(await verify(server, old)).toMatchObject({ iss: ISSUER, aud: AUDIENCE });
  expect(remembered).toMatchObject({ jwks: { keys: [{ kid: 'first' }] } });

  await using after = await start(keys({ ...second, ...SIGNS }, { ...first, ...VERIFIES }));
  const rotated = { ...server, jwks_uri: `${urlOf(after)}/.well-known/jwks.json` };
  // What it remembers is good for the old key. For a key it does not know it looks again, a minute after the last time.
  expect(await verify(rotated, old)).toMatchObject({ iss: ISSUER });
  Object.assign(remembered, { uat: Math.floor(Date.now() / 1000) - 61 });
  const minuteLater = { ...rotated };
  expect(await verify(minuteLater, await tokenOf(after))).toMatchObject({ iss: ISSUER });
  expect(remembered).toMatchObject({ jwks: { keys: [{ kid: 'second' }, { kid: 'first' }] } });
  expect(await verify(minuteLater, old)).toMatchObject({ iss: ISSUER });
});

test('openid-client finds the service by its address and takes its document for what it says', async () => {
  await using fleet = await start(keys({ ...first, ...SIGNS }));
  // Asked at its address on this machine it says that it is another, and libraries believe none but the one they asked.
  const discovered = openid.discovery(new URL(urlOf(fleet)), AUDIENCE, undefined, undefined, {
    // oxlint-disable-next-line typescript/no-deprecated -- on this machine only
    execute: [openid.allowInsecureRequests],
  });
  await expect(discovered).rejects.toThrow();
  const through: openid.CustomFetch = (url, options) => {
    const { pathname } = new URL(url);
    return fetch(urlOf(fleet) + pathname, { method: options.method, headers: options.headers });
  };
  const configuration = await openid.discovery(new URL(ISSUER), AUDIENCE, undefined, undefined, {
    [openid.customFetch]: through,
  });
  const metadata = configuration.serverMetadata();
  expect(metadata).toMatchObject({ issuer: ISSUER, id_token_signing_alg_values_supported: ['ES256'] });
  const published = await through(metadata.jwks_uri?.replace(urlOf(fleet), ISSUER) ?? '', {
    method: 'GET',
    headers: {},
    redirect: 'manual',
    body: undefined,
  });
  expect(await published.json()).toMatchObject({ keys: [{ kid: 'first', alg: 'ES256', use: 'sig' }] });
});
