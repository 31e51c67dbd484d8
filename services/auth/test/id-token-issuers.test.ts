import { readSettings } from '@croft/settings';
import { describe, expect, test } from 'vitest';
import { checkAuthSettings } from '../src/settings/check.ts';
import { authSettings } from '../src/settings.ts';
import { type Answer, startSubject } from './harness.ts';
import { type Claims, idTokenSubject, NONCE } from './support/id-token-subject.ts';

const { issuers, subject, tokenOf, present } = await idTokenSubject();
const refusedWith = (answer: Answer, description: string) => {
  expect([answer.status, answer.body['error_code'], answer.body['error_description']]).toEqual([
    400,
    'validation_failed',
    description,
  ]);
};

describe('issuers of the operator', () => {
  const named = { provider: undefined, issuer: issuers.baseOf('corporate'), client_id: 'mobile' };
  const token = (claims: Claims = {}) => tokenOf('corporate', { aud: 'mobile', ...claims });

  test('sign people in for the clients that are listed', async () => {
    const answer = await present(token(), named);
    expect(answer.status).toBe(200);
    const app = { provider: named.issuer, providers: [named.issuer] };
    expect(answer.body.user?.['app_metadata']).toEqual(app);
  });

  test.each<[string, Claims, Record<string, unknown>, string]>([
    ['another client’s token', { aud: 'evil' }, {}, 'Unacceptable audience in id_token: [evil]'],
    [
      'a client that is not listed, named by the request',
      { aud: 'evil' },
      { client_id: 'evil' },
      'Unacceptable audience in id_token: [evil]',
    ],
    [
      'a listed client’s token for the request of another',
      { aud: 'web' },
      {},
      'Unacceptable audience in id_token: [web]',
    ],
    [
      'a token that another client asked for',
      { azp: 'evil' },
      {},
      'Unacceptable audience in id_token: [evil]',
    ],
  ])('refuses %s', async (_name, claims, body, description) => {
    const before = await subject.snapshot();
    refusedWith(await present(token(claims), { ...named, ...body }), description);
    expect(await subject.snapshot()).toBe(before);
  });

  test('must be who their document says', async () => {
    const before = await subject.snapshot();
    await using other = await startSubject({
      AUTHSVC_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: `${issuers.baseOf('mixed')} mobile`,
    });
    issuers.instead.set('mixed/.well-known/openid-configuration', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ issuer: named.issuer, jwks_uri: `${issuers.url}/mixed/keys` }));
    });
    const body = { id_token: tokenOf('mixed', { aud: 'mobile' }), nonce: NONCE, client_id: 'mobile' };
    const answer = await other.post('/token?grant_type=id_token', {
      ...body,
      issuer: issuers.baseOf('mixed'),
    });
    expect([answer.status, answer.body['error_code']]).toEqual([503, 'provider_unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
    expect(issuers.asked).not.toContain('mixed/keys');
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([
    ['https://issuer.example', 'needs client ids after https://issuer.example'],
    ['http://issuer.example web', 'expected issuers such as https://issuer.example'],
    ['issuer web', 'expected issuers such as'],
  ])('%s ends the start', (value, reason) => {
    const environment = {
      AUTHSVC_SITE_URL: 'https://site.example',
      AUTHSVC_API_EXTERNAL_URL: 'https://auth.example',
      AUTHSVC_JWT_SECRET: 'a secret of more than thirty-two characters',
      AUTHSVC_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: value,
    };
    const start = () => checkAuthSettings(readSettings(authSettings, environment)).join();
    if (reason.startsWith('needs')) expect(start()).toContain(reason);
    else expect(start).toThrow(reason);
  });
});
