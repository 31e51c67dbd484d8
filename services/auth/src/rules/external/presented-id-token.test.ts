import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkPresented, type Presentation } from './presented-id-token.ts';

const now = new Date('2026-01-02T03:04:05Z');
const iat = now.getTime() / 1000;
const hashed = createHash('sha256').update('nonce').digest('hex');
const claims = { sub: '1', aud: 'web', iat, nonce: hashed };
const presentation: Presentation = {
  nonce: 'nonce',
  accessToken: '',
  clientIds: ['web', 'mobile'],
  vouchesForParty: false,
  checksNonce: true,
};
const check = (more: object, other: Partial<Presentation> = {}, hash = 'sha256') =>
  checkPresented({ claims: { ...claims, ...more }, hash }, { ...presentation, ...other }, now);
const halfOf = (hash: string) => {
  const whole = createHash(hash).update('token').digest();
  return whole.subarray(0, whole.length / 2).toString('base64url');
};

describe('lets in', () => {
  test.each<[string, object, Partial<Presentation>?, string?]>([
    ['for one of the clients', { aud: 'mobile' }],
    ['for several, asked for by one of ours', { aud: ['other', 'web'], azp: 'mobile' }],
    ['asked for by ourselves', { azp: 'web' }],
    ['asked for by a client the issuer vouches for', { azp: 'android' }, { vouchesForParty: true }],
    ['without a nonce on either side', { nonce: undefined }, { nonce: '' }],
    ['with any nonce where it is not looked at', { nonce: 'other' }, { checksNonce: false }],
    ['just within a day', { iat: iat - 86_399 }],
    ['with its access token', { at_hash: halfOf('sha256') }, { accessToken: 'token' }],
    [
      'with its access token, hashed otherwise',
      { at_hash: halfOf('sha512') },
      { accessToken: 'token' },
      'sha512',
    ],
    ['with an access token it says nothing of', {}, { accessToken: 'token' }],
    ['without the access token it speaks of', { at_hash: 'any' }],
  ])('%s', (_name, more, other, hash) => {
    expect(() => check(more, other, hash)).not.toThrow();
  });
});

describe('refuses', () => {
  test.each<[string, object, Partial<Presentation>, string]>([
    ['no subject', { sub: '' }, {}, 'Missing sub claim in id_token'],
    ['another client', { aud: 'evil' }, {}, 'Unacceptable audience in id_token: [evil]'],
    [
      'a long audience, at any length',
      { aud: 'x'.repeat(500) },
      {},
      `Unacceptable audience in id_token: [${'x'.repeat(200)}]`,
    ],
    ['no clients at all', {}, { clientIds: [] }, 'Unacceptable audience in id_token: [web]'],
    ['another asker', { azp: 'evil' }, {}, 'Unacceptable audience in id_token: [evil]'],
    ['an asker that is no text', { azp: ['web'] }, {}, 'Unacceptable audience in id_token: [web]'],
    [
      'several audiences whoever vouches',
      { aud: ['web', 'x'], azp: 'x' },
      { vouchesForParty: true },
      'Unacceptable audience in id_token: [x]',
    ],
    ['another nonce', {}, { nonce: 'other' }, 'Nonces mismatch'],
    ['no nonce', {}, { nonce: '' }, 'Passed nonce and nonce in id_token should either both exist or not.'],
    ['a day', { iat: iat - 86_400 }, {}, 'Bad ID token'],
    ['no time', { iat: undefined }, {}, 'Bad ID token'],
    ['another access token', { at_hash: halfOf('sha256') }, { accessToken: 'other' }, 'Bad ID token'],
    ['a hash that is no text', { at_hash: 1 }, { accessToken: 'token' }, 'Bad ID token'],
  ])('%s', (_name, more, other, message) => {
    expect(() => check(more, other)).toThrow(message);
  });
});
