import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomBytes,
  verify,
} from 'node:crypto';
import { accessTokens } from '@croft/access-token';
import { silentLog } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openContext } from '../src/open-context.ts';
import { authSettings } from '../src/settings.ts';
import {
  type Answer,
  bearer,
  confirmedUser,
  JWT_SECRET,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
};
type Asymmetric = keyof typeof pairs;
const privateJwk = (alg: Asymmetric, more: object = {}): JsonWebKey => ({
  ...pairs[alg].privateKey.export({ format: 'jwk' }),
  kid: `key ${alg}`,
  alg,
  ...more,
});
const shared = { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: 'shared', alg: 'HS256' };
const SIGNS = { key_ops: ['sign', 'verify'] };
const keys = (...list: object[]) => ({
  AUTHSVC_JWT_KEYS: JSON.stringify(list),
  AUTHSVC_MAILER_AUTOCONFIRM: 'true',
});

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const partsOf = (answer: Answer) => {
  const token = String(answer.body.access_token);
  const [header = '', payload = '', signature = ''] = token.split('.');
  const read = (text: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(text, 'base64url').toString());
  return { header: read(header), claims: read(payload), signed: `${header}.${payload}`, signature };
};
const signUp = (subject: Subject) => subject.post('/signup', { email: someone(), password: PASSWORD });
const jwks = async (subject: Subject) =>
  (await subject.get('/.well-known/jwks.json')).body['keys'] as JsonWebKey[];

describe.each(['RS256', 'ES256', 'EdDSA'] as const)('JWT_KEYS with a key for %s that signs', (alg) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await startSubject(keys(privateJwk(alg, SIGNS), shared));
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('tokens name it, are accepted, and anybody can verify them with what is published', async () => {
    const session = await signUp(subject);
    const { header, signed, signature } = partsOf(session);
    expect(header).toEqual({ alg, typ: 'JWT', kid: `key ${alg}` });
    expect((await subject.get('/user', bearer(session))).status).toBe(200);
    const [published, ...others] = await jwks(subject);
    expect(others).toEqual([]);
    expect(published).toMatchObject({ kid: `key ${alg}`, alg, use: 'sig', key_ops: ['verify'] });
    const key = createPublicKey({ key: published ?? {}, format: 'jwk' });
    const hash = alg === 'EdDSA' ? null : 'sha256';
    const options = { key, dsaEncoding: 'ieee-p1363' as const };
    expect(verify(hash, Buffer.from(signed), options, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  test('a refresh signs with it, too, and tokens the secret signed before go on', async () => {
    const session = await signUp(subject);
    const refreshed = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: session.body.refresh_token,
    });
    expect(partsOf(refreshed).header).toMatchObject({ alg, kid: `key ${alg}` });
    const { iat: _iat, ...claims } = partsOf(refreshed).claims;
    const old = accessTokens(JWT_SECRET).sign(claims);
    expect((await subject.get('/user', { authorization: `Bearer ${old}` })).status).toBe(200);
  });

  test('nothing but public parts is published, and caches are told how long', async () => {
    const answer = await subject.get('/.well-known/jwks.json');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['cache-control']).toBe('public, max-age=600');
    for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oct'])
      expect(answer.text).not.toContain(`"${name}"`);
    expect(answer.text).not.toContain(shared.k);
    expect(answer.text).not.toContain(JWT_SECRET);
  });

  test('forged tokens are refused, and nothing changed', async () => {
    const session = await signUp(subject);
    const { claims } = partsOf(session);
    const payload = part({ ...claims, role: 'service_role' });
    const pem = pairs[alg].publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const hmac = (header: object, key: string | Buffer) => {
      const signed = `${part(header)}.${payload}`;
      return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    };
    const publishedKey = JSON.stringify((await jwks(subject))[0]);
    const before = await subject.snapshot();
    for (const token of [
      hmac({ alg: 'HS256', kid: `key ${alg}` }, pem),
      hmac({ alg: 'HS256' }, pem),
      hmac({ alg: 'HS256', kid: `key ${alg}` }, publishedKey),
      hmac({ alg: 'HS256', kid: `key ${alg}` }, JWT_SECRET),
      hmac({ alg, kid: `key ${alg}` }, pem),
      hmac({ alg: 'HS256', kid: 'shared' }, JWT_SECRET),
      hmac({ alg: 'HS256', kid: '../../dev/null' }, ''),
      `${part({ alg: 'none', kid: `key ${alg}` })}.${payload}.`,
      `${part({ alg, kid: `key ${alg}` })}.${payload}.${partsOf(session).signature}`,
    ]) {
      const answer = await subject.get('/user', { authorization: `Bearer ${token}` });
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        error_code: 'bad_jwt',
        msg: expect.stringMatching(/^invalid JWT: unable to parse or verify signature, /),
      });
    }
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('the set of keys', () => {
  test('is empty when a secret signs', async () => {
    await using subject = await startSubject({
      AUTHSVC_JWT_KEY_ID: 'main',
      AUTHSVC_MAILER_AUTOCONFIRM: 'true',
    });
    expect((await subject.get('/.well-known/jwks.json')).body).toEqual({ keys: [] });
    const session = await signUp(subject);
    expect(partsOf(session).header).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'main' });
    expect((await subject.get('/user', bearer(session))).status).toBe(200);
  });

  test('lists keys before and after they sign', async () => {
    await using subject = await startSubject(
      keys(privateJwk('ES256', SIGNS), privateJwk('RS256'), privateJwk('EdDSA', { key_ops: ['verify'] })),
    );
    expect((await jwks(subject)).map(({ kid }) => kid)).toEqual(['key ES256', 'key RS256', 'key EdDSA']);
  });
});

test('a key that is taken away ends its tokens', async () => {
  await using before = await startSubject(keys(privateJwk('RS256', SIGNS)));
  const session = await confirmedOrSigned(before);
  await using after = await startSubject(keys(privateJwk('ES256', SIGNS)));
  const answer = await after.get('/user', bearer(session));
  expect(answer.body).toEqual({
    code: 403,
    error_code: 'bad_jwt',
    msg: 'invalid JWT: unable to parse or verify signature, token is unverifiable: unrecognized JWT kid key?RS256',
  });
});

const confirmedOrSigned = (subject: Subject) =>
  subject.context.settings.MAILER_AUTOCONFIRM ? signUp(subject) : confirmedUser(subject);

test.each([
  ['no JSON', 'secret text', 'this is no JSON'],
  ['a duplicate kid', [shared, { ...shared }], 'two keys have the kid "shared"'],
  ['two that sign', [privateJwk('RS256', SIGNS), privateJwk('ES256', SIGNS)], 'only one key may have `sign`'],
  [
    'a weak key',
    [
      {
        ...generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }),
        kid: 'weak',
      },
    ],
    'the key "weak" is too weak: 1024 bits',
  ],
  [
    'alg against kty',
    [{ ...shared, alg: 'RS256' }],
    'the key "shared" has alg RS256, which needs an RSA key',
  ],
])('%s ends the start with a sentence that quotes no key', (_name, value, reason) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const start = () =>
    openContext({
      settings: readSettings(authSettings, {
        AUTHSVC_SITE_URL: 'https://site.example',
        AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
        AUTHSVC_JWT_SECRET: JWT_SECRET,
        AUTHSVC_JWT_KEYS: text,
      }),
      databaseUrl: 'postgres://127.0.0.1:1/none',
      log: silentLog,
      version: '',
      secrets: { atRestKey: new Secret('an at-rest key of the tests') },
    });
  expect(start).toThrow(reason);
  expect(start).toThrow('AUTHSVC_JWT_KEYS');
  expect(start).not.toThrow(/secret text/);
  expect(start).not.toThrow(new RegExp(shared.k));
});
