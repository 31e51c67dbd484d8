import { expect, test } from 'vitest';
import { externalMetadata } from './external-metadata.ts';

const flags = { email_verified: false, phone_verified: false };

test('keeps the claims of the contract that say something', () => {
  const claims = {
    iss: 'https://issuer.example',
    sub: '1',
    name: 'Ada',
    nickname: '',
    picture: undefined,
    locale: null,
  };
  expect(externalMetadata(claims, { address: 'ada@example.com', verified: true })).toEqual({
    iss: 'https://issuer.example',
    sub: '1',
    name: 'Ada',
    email: 'ada@example.com',
    email_verified: true,
    phone_verified: false,
  });
});

test('mass assignment: no other name gets in, and no flag is the provider’s to set', () => {
  const claims = {
    role: 'service_role',
    aud: 'other',
    app_metadata: { role: 'admin' },
    is_super_admin: true,
    email: 'victim@example.com',
    email_verified: true,
    phone: '15550100',
    phone_verified: true,
    exp: 1,
  };
  expect(externalMetadata(claims, undefined)).toEqual(flags);
});

test('custom claims are a copy of what the database can keep', () => {
  const deep = (levels: number): object => (levels === 0 ? { end: true } : { next: deep(levels - 1) });
  const custom_claims = {
    'a\0b': 'c\0d',
    lone: '\ud800',
    empty: '',
    gone: undefined,
    nothing: null,
    not: Number.NaN,
    huge: 1e308,
    tiny: 1e-30,
    list: [1, 'two', null, { three: 3 }],
    deep: deep(100),
  };
  const kept = externalMetadata({ custom_claims }, undefined)['custom_claims'];
  expect(kept).toMatchObject({ ab: 'cd', lone: '\ufffd', list: [1, 'two', { three: 3 }] });
  expect(Object.keys(kept as object)).toEqual(['ab', 'lone', 'list', 'deep']);
  expect(JSON.stringify(kept).length).toBeLessThan(300);
});

test('what would not fit into a token is left out', () => {
  const claims = {
    name: 'x'.repeat(2049),
    custom_claims: { long: 'x'.repeat(8200) },
    picture: {},
    sub: ['1'],
  };
  expect(externalMetadata(claims, undefined)).toEqual(flags);
  expect(externalMetadata({ custom_claims: {} }, undefined)).toEqual(flags);
  expect(externalMetadata({ custom_claims: 'text' }, undefined)).toEqual(flags);
});
