import { expect, it } from 'vitest';
import { fits, readChallenge } from './code-challenge.ts';
import { isRegistered, redirectUriFault, withAnswer } from './redirect-uri.ts';
import { decideRefresh } from './refresh-use.ts';
import { describeScopes, joinedScopes, narrowedScopes, wantedScopes } from './wanted-scopes.ts';

const redirectUris = [
  'https://ci.example/authorize',
  'http://127.0.0.1',
  'http://[::1]/x',
  'app.example:/done',
];

it.each([
  ['https://ci.example/authorize', true],
  ['https://ci.example/authorize/', true],
  ['https://ci.example/authorize/more', false],
  ['https://ci.example/authorize?a=b', false],
  ['https://ci.example/Authorize', false],
  ['https://ci.example:8443/authorize', false],
  ['https://ci.example@evil.example/authorize', false],
  ['https://ci.example/authorize#x', false],
  ['app.example:/done', true],
  ['http://127.0.0.1:40123/', true],
  ['http://127.0.0.1:40123', true],
  ['http://127.0.0.1:40123/x', false],
  ['http://[::1]:40123/x', true],
  ['http://127.0.0.1.evil.example:40123/', false],
  ['http://localhost:40123/', false],
  ['https://127.0.0.1:40123/', false],
  ['', false],
])('the redirect_uri %s of a program without a secret is registered: %s', (uri, is) => {
  expect(isRegistered(uri, { isConfidential: false, redirectUris })).toBe(is);
});

it('a program with a secret names the port, too', () => {
  const confidential = { isConfidential: true, redirectUris };
  expect(isRegistered('http://127.0.0.1', confidential)).toBe(true);
  expect(isRegistered('http://127.0.0.1:40123', confidential)).toBe(false);
});

it.each([
  'javascript:alert(1)',
  'JavaScript://ci.example/%0aalert(1)',
  'data:text/html,x',
  '/relative',
  'https://ci.example/#x',
  'https://a:b@ci.example/',
  'https://ci.example/ x',
  'https://ci.example/\r\nx: y',
  'https://ci.example/ü',
])('nobody is sent to %j', (uri) => {
  expect(redirectUriFault(uri)).toEqual(expect.any(String));
});

it('an answer stands beside what the address has in its query already', () => {
  expect(withAnswer('https://ci.example/a?x=1', { code: 'c&d', state: undefined })).toBe(
    'https://ci.example/a?x=1&code=c%26d',
  );
});

it.each([
  ['', ['all']],
  ['openid profile email', ['all']],
  ['admin,user,issue', ['all']],
  ['read:user write:repository', ['read:user', 'write:repository']],
  ['read:user,read:issue nonsense', ['read:user', 'read:issue']],
  ['public-only', ['all', 'public-only']],
])('who asks for %j gets %j', (text, scopes) => {
  expect(wantedScopes(text)).toEqual(scopes);
});

it.each([
  [['all'], '', ['all']],
  [['all'], 'openid profile', ['all']],
  [['all'], 'read:user', ['read:user']],
  [['all'], 'all', ['all']],
  [['write:user'], 'read:user', ['read:user']],
  [['write:user'], 'offline_access', ['write:user']],
  [['read:user'], 'write:user', undefined],
  [['read:user'], 'all', undefined],
  [['read:user'], 'read:user read:issue', undefined],
  [['read:user'], 'public-only', ['read:user', 'public-only']],
  [['all', 'public-only'], 'read:user', ['read:user', 'public-only']],
])('who has %j and asks a refresh for %j gets %j', (allowed, text, scopes) => {
  expect(narrowedScopes(allowed, text)).toEqual(scopes);
});

it.each([
  [[], []],
  [
    [['read:user'], ['read:issue', 'read:user']],
    ['read:issue', 'read:user'],
  ],
  [[['all', 'public-only']], ['all', 'public-only']],
  [
    [['all', 'public-only'], ['read:user']],
    ['all', 'read:user'],
  ],
])('%j together are %j', (sets, scopes) => {
  expect(joinedScopes(sets)).toEqual(scopes);
});

it.each([
  [{}, 'yields'],
  [{ expiresAt: 0 }, 'expired'],
  [{ refreshedAt: -60_000, hasUsedSuccessor: true }, 'yields'],
  [{ refreshedAt: -60_001, hasUsedSuccessor: true }, 'stolen'],
  [{ refreshedAt: -60_001, hasUsedSuccessor: null }, 'stolen'],
  [{ refreshedAt: -60_001, hasUsedSuccessor: false }, 'yields-again'],
  [{ isReplaced: true }, 'stolen'],
  [{ refreshedAt: -60_001, hasUsedSuccessor: true, isConfidential: true }, 'yields'],
  [{ expiresAt: 0, isConfidential: true }, 'expired'],
])('of a refresh token with %j comes: %s', (change, decision) => {
  const now = 1_000_000_000;
  const { expiresAt, refreshedAt, ...rest } = { expiresAt: 1, refreshedAt: undefined, ...change };
  const token = { isReplaced: false, hasUsedSuccessor: null, isConfidential: false, ...rest };
  const times = {
    expiresAt: new Date(now + expiresAt),
    refreshedAt: refreshedAt === undefined ? null : new Date(now + refreshedAt),
  };
  expect(decideRefresh({ ...token, ...times }, new Date(now))).toBe(decision);
});

it('scopes are told in words', () => {
  expect(describeScopes(['all', 'public-only'])).toBe(
    'It asks for everything that you can do here, except to make tokens. Of repositories it reaches public ones only.',
  );
  expect(describeScopes(['read:user', 'write:issue', 'write:repository'])).toBe(
    'It asks to read and change: issue, repository; to read: user.',
  );
});

it('a verifier fits its challenge and no other', () => {
  // RFC 7636, appendix B.
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  expect(readChallenge(challenge, 'S256')).toEqual({ challenge, method: 'S256' });
  expect(readChallenge(challenge, '')).toEqual({ challenge, method: 'plain' });
  expect(readChallenge('', '')).toBeUndefined();
  for (const [text, method] of [
    [challenge, 's384'],
    ['', 'S256'],
    ['short', 'S256'],
    [`${challenge}\n`, 'S256'],
  ] as const)
    expect(readChallenge(text, method)).toBe('malformed');
  expect(fits(verifier, { challenge, method: 'S256' })).toBe(true);
  expect(fits(challenge, { challenge, method: 'S256' })).toBe(false);
  expect(fits('', { challenge, method: 'S256' })).toBe(false);
  expect(fits(challenge, { challenge, method: 'plain' })).toBe(true);
});
