import { expect, it } from 'vitest';
import { readCredentials } from './credentials.ts';

const token = 'a1'.repeat(20);
const jwt = `${'h'.repeat(20)}.${'p'.repeat(40)}.${'s'.repeat(20)}`;
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

it.each([
  [undefined, { kind: 'none' }],
  ['', { kind: 'none' }],
  [`token ${token}`, { kind: 'token', token }],
  [`BEARER  ${jwt}`, { kind: 'token', token: jwt }],
  ['Bearer', { kind: 'unusable' }],
  ['Bearer a b', { kind: 'unusable' }],
  ['Digest x', { kind: 'unusable' }],
  [basic('ada:secret:with:colons'), { kind: 'pair', name: 'ada', password: 'secret:with:colons' }],
  [basic(`${token}:`), { kind: 'token', token }],
  [basic(`${token}:x-oauth-basic`), { kind: 'token', token }],
  [basic(`whoever:${token}`), { kind: 'token', token }],
  [basic(`whoever:${jwt}`), { kind: 'token', token: jwt }],
  [basic('ada:'), { kind: 'unusable' }],
  [basic(':x'), { kind: 'unusable' }],
  [basic('no colon'), { kind: 'unusable' }],
  [basic('a\0b:c'), { kind: 'unusable' }],
  [basic('ada:c\0d'), { kind: 'unusable' }],
])('%s', (header, credentials) => {
  expect(readCredentials(header)).toEqual(credentials);
});
