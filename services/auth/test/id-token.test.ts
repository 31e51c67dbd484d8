import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  claimsOf as accessClaims,
  bearer,
  confirmedUser,
  PASSWORD,
  type Subject,
  someone,
  startSubject,
} from './harness.ts';
import { type Claims, clientOf, idTokenSubject, NONCE } from './support/id-token-subject.ts';
import { type Alg, hashedNonce, issuerKey, signIdToken } from './support/issuer-emulator.ts';

const { issuers, subject, claimsOf, key, tokenOf, present } = await idTokenSubject();
afterEach(() => {
  issuers.keys = [issuers.keys[0] ?? issuerKey('RS256')];
});
const refusedWith = (answer: Answer, description: string, error = 'invalid request') => {
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      code: 400,
      error_code: 'validation_failed',
      msg: description,
      error,
      error_description: description,
    },
  ]);
};
const userCount = async () =>
  (await subject.rows.autocommit().row<{ count: number }>`select count(*) as count from :schema.users`)
    ?.count;

describe('a new person', () => {
  test('is signed up and in, with a session like any other', async () => {
    const email = someone();
    const before = (await subject.audit()).length;
    const answer = await present(tokenOf('google', { email, hd: 'example.com' }));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body.user).toMatchObject({
      email,
      email_confirmed_at: expect.any(String),
      app_metadata: { provider: 'google', providers: ['google'] },
      user_metadata: {
        full_name: 'Ada Lovelace',
        email_verified: true,
        custom_claims: { hd: 'example.com' },
      },
      identities: [{ provider: 'google', email }],
    });
    expect(accessClaims(subject, answer).amr).toMatchObject([{ method: 'oauth' }]);
    expect((await subject.audit()).slice(before)).toEqual(['user_signedup']);
    expect((await subject.get('/user', bearer(answer))).status).toBe(200);
    const refreshed = await subject.post('/token?grant_type=refresh_token', {
      refresh_token: answer.body.refresh_token,
    });
    expect(refreshed.status).toBe(200);
  });

  test('is the same the next time, and by way of the browser', async () => {
    const who = { sub: 'always the same', email: someone() };
    const first = await present(tokenOf('google', who));
    const users = await userCount();
    const before = (await subject.audit()).length;
    const second = await present(tokenOf('google', { ...who, name: 'Ada King' }));
    expect(second.body.user?.id).toBe(first.body.user?.id);
    expect(second.body.user?.['user_metadata']).toMatchObject({ full_name: 'Ada King' });
    expect(await userCount()).toBe(users);
    expect((await subject.audit()).slice(before)).toEqual(['login']);
  });

  test('may present the token in a form, and anything in any case', async () => {
    const fields = { grant_type: 'id_token', Provider: 'GooGLE', ID_TOKEN: tokenOf('google'), nonce: NONCE };
    const answer = await subject.app.inject({
      method: 'POST',
      url: '/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });
    expect(answer.statusCode).toBe(200);
  });
});

describe('providers', () => {
  const tenant = '11111111-2222-3333-4444-555555555555';
  const azureIssuer = `${issuers.baseOf('azure')}/${tenant}/v2.0`;
  test.each<[string, Claims, Record<string, unknown>, object]>([
    [
      'apple',
      { email_verified: 'true', is_private_email: 'true' },
      {},
      { custom_claims: { is_private_email: 'true' } },
    ],
    [
      'azure',
      { iss: azureIssuer, tid: tenant, preferred_username: 'ada', xms_edov: true },
      {},
      { preferred_username: 'ada' },
    ],
    ['facebook', { nonce: 'in clear', given_name: 'Ada' }, { nonce: '' }, { given_name: 'Ada' }],
    ['keycloak', { azp: clientOf('keycloak'), realm: 'x' }, {}, { custom_claims: { realm: 'x' } }],
    ['google', { azp: 'the Android client' }, {}, {}],
  ])('%s', async (provider, claims, body, metadata) => {
    const email = someone();
    const answer = await present(tokenOf(provider, { email, ...claims }), { provider, ...body });
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({ email, user_metadata: { email, ...metadata } });
    expect(answer.body.user?.['app_metadata']).toMatchObject({ provider });
  });

  test('kakao says of no address that it is verified, so its owner is asked', async () => {
    const email = someone();
    const answer = await present(tokenOf('kakao', { email, email_verified: undefined }), {
      provider: 'kakao',
    });
    expect([answer.status, answer.body['error_code']]).toEqual([403, 'provider_email_needs_verification']);
    const mails = await subject.mails();
    expect(mails.filter(({ headers }) => headers.get('to') === email)).toHaveLength(1);
  });

  test('is named by its issuer', async () => {
    const body = { provider: undefined, issuer: issuers.baseOf('google'), client_id: 'whatever' };
    expect((await present(tokenOf('google'), body)).status).toBe(200);
  });

  test.each(['second client of google', ['third', clientOf('google')]])(
    'tokens for %j are taken',
    async (aud) => {
      const azp = Array.isArray(aud) ? clientOf('google') : undefined;
      expect((await present(tokenOf('google', { aud, azp }))).status).toBe(200);
    },
  );

  test('tokens for the bundle of an iOS application are taken', async () => {
    expect((await present(tokenOf('apple', { aud: 'example.app' }), { provider: 'apple' })).status).toBe(200);
    refusedWith(
      await present(tokenOf('google', { aud: 'example.app' })),
      'Unacceptable audience in id_token: [example.app]',
    );
  });

  test.each<Alg>(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('may sign with %s', async (alg) => {
    issuers.keys.push(issuerKey(alg));
    subject.clock.advance(61_000);
    const [, other] = issuers.keys;
    const hash = { EdDSA: 'sha512', ES384: 'sha384' }[alg as string] ?? 'sha256';
    const whole = createHash(hash).update('token of the provider').digest();
    const at_hash = whole.subarray(0, whole.length / 2).toString('base64url');
    const claims = claimsOf('google', { at_hash });
    const token = signIdToken(other ?? key(), claims);
    expect((await present(token, { access_token: 'token of the provider' })).status).toBe(200);
    refusedWith(await present(token, { access_token: 'token of another sign-in' }), 'Bad ID token');
  });
});

describe('whose account it is', () => {
  test('a verified address leads to the account that proved it', async () => {
    const owner = await confirmedUser(subject);
    const before = (await subject.audit()).length;
    const answer = await present(tokenOf('google', { email: owner.body.user?.email }));
    expect(answer.body.user?.id).toBe(owner.body.user?.id);
    expect(answer.body.user?.['app_metadata']).toMatchObject({ providers: ['email', 'google'] });
    expect((await subject.audit()).slice(before)).toEqual(['identity_linked', 'login']);
  });

  test('an address nobody vouches for leads to none', async () => {
    const owner = await confirmedUser(subject);
    const users = await userCount();
    const answer = await present(tokenOf('google', { email: owner.body.user?.email, email_verified: 'no' }));
    expect([answer.status, answer.body['error_code']]).toEqual([403, 'provider_email_needs_verification']);
    expect(await userCount()).toBe(users);
    expect((await subject.get('/user', bearer(owner))).body['identities']).toHaveLength(1);
    expect(
      (
        await subject.post('/token?grant_type=password', {
          email: owner.body.user?.email,
          password: PASSWORD,
        })
      ).status,
    ).toBe(200);
  });

  test('somebody banned does not get in', async () => {
    const who = { sub: 'banned', email: someone() };
    const { id } = (await present(tokenOf('google', who))).body.user ?? { id: '' };
    await subject.rows.autocommit().run`
      update :schema.users set banned_until = 'infinity' where id = ${id}::uuid`;
    const before = await subject.snapshot();
    const answer = await present(tokenOf('google', who));
    expect([answer.status, answer.body['error_code']]).toEqual([403, 'user_banned']);
    expect(await subject.snapshot()).toBe(before);
  });

  test('nobody new without sign-up, or without an address', async () => {
    await using closed = await idTokenSubjectWith({ AUTHSVC_DISABLE_SIGNUP: 'true' });
    const before = await closed.snapshot();
    const body = { provider: 'google', id_token: tokenOf('google'), nonce: NONCE };
    const answer = await closed.post('/token?grant_type=id_token', body);
    expect([answer.status, answer.body['error_code']]).toEqual([403, 'signup_disabled']);
    expect(await closed.snapshot()).toBe(before);
    const unchanged = await subject.snapshot();
    const nameless = await present(tokenOf('google', { email: undefined }));
    expect([nameless.status, nameless.body['error_code']]).toEqual([400, 'email_address_not_provided']);
    expect(await subject.snapshot()).toBe(unchanged);
  });
});

async function idTokenSubjectWith(environment: Record<string, string>): Promise<Subject> {
  const other = await startSubject({
    AUTHSVC_EXTERNAL_GOOGLE_ENABLED: 'true',
    AUTHSVC_EXTERNAL_GOOGLE_CLIENT_ID: clientOf('google'),
    AUTHSVC_EXTERNAL_GOOGLE_SECRET: 'secret',
    AUTHSVC_EXTERNAL_GOOGLE_REDIRECT_URI: 'https://auth.example/callback',
    AUTHSVC_EXTERNAL_GOOGLE_URL: issuers.baseOf('google'),
    ...environment,
  });
  other.clock.advance(subject.clock.now().getTime() - other.clock.now().getTime());
  return other;
}

describe('the nonce', () => {
  test('is checked by its hash, and may be missing on both sides', async () => {
    expect((await present(tokenOf('google', { nonce: undefined }), { nonce: undefined })).status).toBe(200);
  });
  test.each<[string, Claims, Record<string, unknown>, string, string?]>([
    ['another', { nonce: hashedNonce('another') }, {}, 'Nonces mismatch', 'invalid nonce'],
    ['one that stands in the token itself', { nonce: NONCE }, {}, 'Nonces mismatch', 'invalid nonce'],
    ['its hash', {}, { nonce: hashedNonce(NONCE) }, 'Nonces mismatch', 'invalid nonce'],
    [
      'none for a token that has one',
      {},
      { nonce: '' },
      'Passed nonce and nonce in id_token should either both exist or not.',
    ],
    [
      'one for a token that has none',
      { nonce: undefined },
      {},
      'Passed nonce and nonce in id_token should either both exist or not.',
    ],
    [
      'one that is no text',
      { nonce: [hashedNonce(NONCE)] },
      {},
      'Passed nonce and nonce in id_token should either both exist or not.',
    ],
  ])('is refused: %s', async (_name, claims, body, description, error) => {
    const before = await subject.snapshot();
    refusedWith(await present(tokenOf('google', claims), body), description, error);
    expect(await subject.snapshot()).toBe(before);
  });
  test('EXTERNAL_GOOGLE_SKIP_NONCE_CHECK switches that off', async () => {
    await using lenient = await idTokenSubjectWith({ AUTHSVC_EXTERNAL_GOOGLE_SKIP_NONCE_CHECK: 'true' });
    const body = { provider: 'google', id_token: tokenOf('google') };
    expect((await lenient.post('/token?grant_type=id_token', body)).status).toBe(200);
  });
});

test('it takes two round trips', async () => {
  await present(tokenOf('google'));
  expect(await subject.countRoundTrips(() => present(tokenOf('google')))).toBe(2);
});
