import { createHmac, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Croft, type Place, placeFor, startCroft } from './support/croft.ts';

// Whatever auth signs with, forge accepts: the keys reach both, and change in both.

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = (key: typeof ec.privateKey, more: object): JsonWebKey => ({
  ...key.export({ format: 'jwk' }),
  ...more,
});
const signs = { key_ops: ['sign', 'verify'] };
const withKeys = (...keys: object[]) => ({
  AUTHSVC_JWT_KEYS: JSON.stringify(keys),
  AUTHSVC_MAILER_AUTOCONFIRM: 'true',
});

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let place: Place;
beforeAll(async () => {
  folder = await temporaryFolder();
  place = await placeFor(join(folder.path, 'data'));
});
afterAll(() => folder[Symbol.asyncDispose]());

async function signUp(croft: Croft, name: string): Promise<string> {
  const answer = await fetch(`${croft.auth}/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.com`, password: 'correct horse' }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function atForge(croft: Croft, token: string): Promise<number> {
  const answer = await fetch(`${croft.forge}/api/v1/user`, { headers: { authorization: `Bearer ${token}` } });
  await answer.body?.cancel();
  return answer.status;
}

const headerOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());

describe('JWT_KEYS of the whole product', () => {
  it('secret, then one key, then the next: old tokens go on, at auth and at forge', {
    timeout: 150_000,
  }, async () => {
    let croft = await startCroft({ ...place, env: { AUTHSVC_MAILER_AUTOCONFIRM: 'true' } });
    const first = await signUp(croft, 'ada');
    expect(headerOf(first)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(await atForge(croft, first)).toBe(200);
    expect(await croft.stop()).toBe(0);

    croft = await startCroft({
      ...place,
      env: withKeys(jwk(ec.privateKey, { kid: 'one', alg: 'ES256', ...signs })),
    });
    const second = await signUp(croft, 'bob');
    expect(headerOf(second)).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'one' });
    expect([await atForge(croft, first), await atForge(croft, second)]).toEqual([200, 200]);
    expect(await croft.stop()).toBe(0);

    croft = await startCroft({
      ...place,
      env: withKeys(
        jwk(rsa.privateKey, { kid: 'two', alg: 'RS256', ...signs }),
        jwk(ec.publicKey, { kid: 'one', alg: 'ES256' }),
      ),
    });
    const third = await signUp(croft, 'eve');
    expect(headerOf(third)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'two' });
    for (const token of [first, second, third]) expect(await atForge(croft, token)).toBe(200);

    // HS/RS confusion: the public key, which everybody may read, as if it were a shared secret.
    const published = (await (await fetch(`${croft.auth}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(published.keys.map(({ kid }) => kid)).toEqual(['two', 'one']);
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    for (const header of [{ alg: 'HS256', kid: 'two' }, { alg: 'HS256' }, { alg: 'none', kid: 'two' }]) {
      const signed = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${third.split('.')[1]}`;
      const forged = `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`;
      expect(await atForge(croft, forged)).toBe(401);
    }
    expect(await croft.stop()).toBe(0);
  });
});
