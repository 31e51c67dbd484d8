import { expect, test } from 'vitest';
import type { FactorRow, UserRow } from '../../rows.ts';
import { checkMayChange, isRecovering, needsReauthentication, type WantedChanges } from './user-update.ts';

const own = {
  email: 'ada@example.com',
  phone: null,
  role: 'authenticated',
  is_anonymous: false,
  is_sso_user: false,
  factors: [],
};
const nothing: WantedChanges = {
  email: undefined,
  phone: undefined,
  password: undefined,
  changesAppMetadata: false,
};
const refusal = (user: Partial<UserRow>, wanted: Partial<WantedChanges>, aal = 'aal1'): string => {
  try {
    checkMayChange({ ...own, ...user } as UserRow, { ...nothing, ...wanted }, ['service_role'], aal);
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

const guarded = { factors: [{ status: 'verified' }, { status: 'unverified' }] as FactorRow[] };
test.each([
  ['a password', 'aal1', { password: 'x' }, 'insufficient_aal'],
  ['an address', 'aal1', { email: 'a@b.c' }, 'insufficient_aal'],
  ['a number', 'aal1', { phone: '1' }, 'insufficient_aal'],
  ['the present address', 'aal1', { email: own.email }, 'may'],
  ['metadata alone', 'aal1', {}, 'may'],
  ['a password, by a session that showed the factor', 'aal2', { password: 'x' }, 'may'],
])('with a second factor: %s, %s', (_name, aal, wanted, outcome) => {
  expect(refusal(guarded, wanted, aal)).toBe(outcome);
  expect(refusal({ factors: guarded.factors.slice(1) }, wanted, aal)).toBe('may');
});

const now = new Date('2026-01-02T00:00:00Z');
test.each([
  ['no session', undefined, true],
  ['a day old', new Date('2026-01-01T00:00:00Z'), true],
  ['a moment younger', new Date('2026-01-01T00:00:00.001Z'), false],
])('reauthentication with %s: %s', (_name, startedAt, needed) => {
  expect(needsReauthentication(startedAt, now)).toBe(needed);
});

test.each([
  ['just now, by mail or message', [{ method: 'otp', timestamp: 1_000 }], 1_000, true],
  ['just now, by the verifier of a link', [{ method: 'recovery', timestamp: 1_000 }], 1_000, true],
  ['an hour ago', [{ method: 'otp', timestamp: 1_000 }], 4_600, false],
  ['a moment less', [{ method: 'otp', timestamp: 1_000 }], 4_599, true],
  ['by a password', [{ method: 'password', timestamp: 1_000 }], 1_000, false],
  [
    'with a factor besides',
    [
      { method: 'totp', timestamp: 1_100 },
      { method: 'otp', timestamp: 1_000 },
    ],
    1_200,
    true,
  ],
  ['nobody knows how', [], 1_000, false],
  ['as no token of ours says it', ['otp', null, ['otp'], { method: 'otp' }], 1_000, false],
  ['in a claim that is no list', 'otp', 1_000, false],
  ['in no claim', undefined, 1_000, false],
] as const)('signed in %s', (_name, amr, nowSeconds, recovering) => {
  expect(isRecovering(amr, new Date(nowSeconds * 1000))).toBe(recovering);
});
