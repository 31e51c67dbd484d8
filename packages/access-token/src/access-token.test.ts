import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { accessTokens, InvalidAccessToken } from './index.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const tokens = accessTokens(SECRET, () => NOW);
const claims = { sub: '5b9e7d6c-1111-4222-8333-944445555666', role: 'authenticated', exp: NOW / 1000 + 3600 };

function forge(header: object, payload: object, secret: string): string {
  const head = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
}

describe('accessTokens', () => {
  it('returns the claims it signed and adds only iat', () => {
    expect(tokens.verify(tokens.sign(claims))).toEqual({ ...claims, iat: NOW / 1000 });
    expect(tokens.verify(tokens.sign({ ...claims, iat: 5 }))).toEqual({ ...claims, iat: 5 });
  });

  it('accepts a token that another implementation signed with the secret', () => {
    expect(tokens.verify(forge({ alg: 'HS256', typ: 'JWT' }, claims, SECRET))).toEqual(claims);
  });

  it.each([
    ['another key', forge({ alg: 'HS256' }, claims, 'x'.repeat(40)), 'signature is invalid'],
    ['alg none', `${forge({ alg: 'none' }, claims, SECRET).split('.').slice(0, 2).join('.')}.`, 'token'],
    ['alg none with a signature', forge({ alg: 'none' }, claims, SECRET), 'token'],
    ['another algorithm', forge({ alg: 'HS512' }, claims, SECRET), 'token'],
    ['RS256 confusion', forge({ alg: 'RS256' }, claims, SECRET), 'token'],
    ['no exp', forge({ alg: 'HS256' }, { sub: claims.sub }, SECRET), 'exp claim is required'],
    ['exp as text', forge({ alg: 'HS256' }, { ...claims, exp: '9999999999' }, SECRET), 'expired'],
    ['not yet valid', forge({ alg: 'HS256' }, { ...claims, nbf: NOW / 1000 + 60 }, SECRET), 'not valid yet'],
    ['garbage', 'not.a.token', 'malformed'],
    ['empty', '', 'malformed'],
    [
      'unknown critical header',
      forge({ alg: 'HS256', crit: ['b64'], b64: false }, claims, SECRET),
      'malformed',
    ],
  ])('refuses %s', (_name, token, reason) => {
    expect(() => tokens.verify(token)).toThrow(InvalidAccessToken);
    expect(() => tokens.verify(token)).toThrow(reason);
  });

  it('refuses a token from the second it expires', () => {
    const token = tokens.sign({ ...claims, exp: NOW / 1000 });
    expect(() => tokens.verify(token)).toThrow(expect.objectContaining({ expired: true }));
    expect(accessTokens(SECRET, () => NOW - 1).verify(token)).toBeDefined();
  });
});
