import { expect, test } from 'vitest';
import type { UserRow } from '../../rows.ts';
import { checkMayChange, needsReauthentication, type WantedChanges } from './user-update.ts';

const own = {
  email: 'ada@example.com',
  phone: null,
  role: 'authenticated',
  is_anonymous: false,
  is_sso_user: false,
};
const nothing: WantedChanges = {
  email: undefined,
  phone: undefined,
  password: undefined,
  changesAppMetadata: false,
};
const refusal = (user: Partial<UserRow>, wanted: Partial<WantedChanges>): string => {
  try {
    checkMayChange({ ...own, ...user } as UserRow, { ...nothing, ...wanted }, ['service_role']);
    return 'may';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each([
  ['nothing', {}, {}, 'may'],
  ['app_metadata', {}, { changesAppMetadata: true }, 'not_admin'],
  ['app_metadata, by an administrator', { role: 'service_role' }, { changesAppMetadata: true }, 'may'],
  ['a password', {}, { password: 'x' }, 'may'],
  ['a password, anonymous', { is_anonymous: true }, { password: 'x' }, 'validation_failed'],
  ['a password with an address, anonymous', { is_anonymous: true }, { password: 'x', email: 'a@b.c' }, 'may'],
  ['a password with a number, anonymous', { is_anonymous: true }, { password: 'x', phone: '1' }, 'may'],
  ['a password, from a company', { is_sso_user: true }, { password: 'x' }, 'user_sso_managed'],
  ['an address, from a company', { is_sso_user: true }, { email: 'a@b.c' }, 'user_sso_managed'],
  ['a number, from a company', { is_sso_user: true }, { phone: '1' }, 'user_sso_managed'],
  ['the present address, from a company', { is_sso_user: true }, { email: own.email }, 'may'],
])('%s', (_name, user, wanted, outcome) => {
  expect(refusal(user, wanted)).toBe(outcome);
});

const now = new Date('2026-01-02T00:00:00Z');
test.each([
  ['no session', undefined, true],
  ['a day old', new Date('2026-01-01T00:00:00Z'), true],
  ['a moment younger', new Date('2026-01-01T00:00:00.001Z'), false],
])('reauthentication with %s: %s', (_name, startedAt, needed) => {
  expect(needsReauthentication(startedAt, now)).toBe(needed);
});
