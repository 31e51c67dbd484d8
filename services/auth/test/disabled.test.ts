import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, bearer, PASSWORD, type Subject, someone, startSubject } from './harness.ts';
import { serviceRole } from './support/administrators.ts';

// What clients of GoTrue may ask for and is not there is refused in words they know.

let subject: Subject;
let session: Answer;
beforeAll(async () => {
  subject = await startSubject({ AUTHSVC_MAILER_AUTOCONFIRM: 'true' });
  session = await subject.post('/signup', { email: someone(), password: PASSWORD });
});
afterAll(() => subject[Symbol.asyncDispose]());

const ID = randomUUID();
const SAML = [404, 'saml_provider_disabled', 'SAML 2.0 is disabled'] as const;
const OAUTH = [404, 'feature_disabled', 'OAuth server is disabled'] as const;
const PASSKEYS = [404, 'passkey_disabled', 'Passkeys are disabled'] as const;
const LINKING = [404, 'manual_linking_disabled', 'Manual linking is disabled'] as const;

test.each([
  ['POST', '/sso', SAML],
  ['GET', '/sso/saml/metadata?download=true', SAML],
  ['POST', '/sso/saml/acs', SAML],
  ['GET', '/oauth/authorize?client_id=x', OAUTH],
  ['POST', '/oauth/token', OAUTH],
  ['POST', '/oauth/clients/register', OAUTH],
  ['GET', '/.well-known/oauth-authorization-server', OAUTH],
  ['POST', '/passkeys/authentication/options', PASSKEYS],
  ['GET', '/scim/v2/Schemas', [404, 'feature_disabled', 'SCIM is disabled']],
  ['POST', '/token?grant_type=web3', [422, 'web3_provider_disabled', 'Web3 provider is disabled']],
] as const)('%s %s for anybody', async (method, path, [status, code, msg]) => {
  const before = await subject.snapshot();
  const answer = await subject.send(method, path, method === 'GET' ? undefined : '{}');
  expect([answer.status, answer.body]).toEqual([status, { code: status, error_code: code, msg }]);
  expect(await subject.snapshot()).toBe(before);
});

test.each([
  ['GET', '/user/identities/authorize?provider=google', LINKING],
  ['DELETE', `/user/identities/${ID}`, LINKING],
  ['GET', '/passkeys', PASSKEYS],
  ['GET', '/user/oauth/grants', OAUTH],
  ['GET', `/oauth/authorizations/${ID}`, OAUTH],
] as const)('%s %s for users alone', async (method, path, [status, code, msg]) => {
  const body = method === 'GET' ? undefined : '{}';
  expect((await subject.send(method, path, body)).status).toBe(401);
  const answer = await subject.send(method, path, body, bearer(session));
  expect([answer.status, answer.body]).toEqual([status, { code: status, error_code: code, msg }]);
});

test.each([
  ['GET', '/admin/sso/providers', SAML],
  ['GET', '/admin/oauth/clients', OAUTH],
  ['POST', `/admin/oauth/clients/${ID}/regenerate_secret`, OAUTH],
  ['GET', `/admin/users/${ID}/passkeys`, PASSKEYS],
  ['GET', '/admin/custom-providers', [404, 'feature_disabled', 'Custom providers are disabled']],
] as const)('%s %s for administrators alone', async (method, path, [status, code, msg]) => {
  expect((await subject.send(method, path, undefined, bearer(session))).status).toBe(403);
  const answer = await subject.send(method, path, undefined, serviceRole(subject));
  expect([answer.status, answer.body]).toEqual([status, { code: status, error_code: code, msg }]);
});

test('none of it stands in the document of what there is', async () => {
  const { paths } = JSON.parse((await subject.get('/openapi.json')).text) as { paths: object };
  const off = /passkeys|\/sso|\/oauth\/|\/scim/;
  expect(Object.keys(paths).filter((path) => off.test(path))).toEqual([]);
});
