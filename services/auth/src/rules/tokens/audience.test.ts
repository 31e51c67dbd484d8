import { expect, test } from 'vitest';
import { audienceOf } from './audience.ts';

const settings = { JWT_AUD: 'default', JWT_ADMIN_ROLES: ['service_role'] };

test.each<[string, string | undefined, Parameters<typeof audienceOf>[1], string]>([
  ['nothing said', undefined, undefined, 'default'],
  ['the header', 'app', undefined, 'app'],
  ['the header before the token', 'app', { aud: 'other', role: 'authenticated' }, 'app'],
  ['the header of an administrator', 'app', { aud: 'other', role: 'service_role' }, 'app'],
  ['an empty header', '', { aud: 'other' }, 'other'],
  ['the token', undefined, { aud: 'other', role: 'authenticated' }, 'other'],
  ['a token without a role', undefined, { aud: 'other' }, 'other'],
  ['a token without an audience', undefined, { role: 'authenticated' }, 'default'],
  ['a token with an empty audience', undefined, { aud: '' }, 'default'],
  ['a token with several', undefined, { aud: ['one', 'two'] }, 'one'],
  ['a token with a list of none', undefined, { aud: [] }, 'default'],
  ["an administrator's token", undefined, { aud: 'admins', role: 'service_role' }, 'default'],
])('%s', (_name, requested, presented, expected) => {
  expect(audienceOf(requested, presented, settings)).toBe(expected);
});
