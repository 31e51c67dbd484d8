import { expect, test } from 'vitest';
import type { FactorRow, FactorType } from '../../rows.ts';
import { isLow, lowerAal, tokenSeconds } from './assurance.ts';
import { factorsAfterProof, planEnrolment } from './enrolment.ts';
import { otpauthUri } from './otpauth.ts';
import { knowsRecoveryCodes, normalizeRecoveryCode, recoveryCode } from './recovery-codes.ts';
import { FACTOR_WAITS_MS, FORGET_ONE_MS, lockedSeconds, USER_WAITS_MS } from './wrong-codes.ts';

const now = new Date('2026-01-01T12:00:00Z');
const factor = (id: string, fields: Partial<FactorRow> = {}): FactorRow => ({
  id,
  factor_type: 'totp',
  status: 'verified',
  friendly_name: null,
  phone: null,
  last_challenged_at: null,
  created_at: '2026-01-01T11:59:00+00:00',
  updated_at: '2026-01-01T11:59:00+00:00',
  ...fields,
});
const pending = (id: string, fields: Partial<FactorRow> = {}) =>
  factor(id, { status: 'unverified', ...fields });
const limits = { most: 3, mostVerified: 2, expiryMs: 300_000 };

function outcome(
  factors: readonly FactorRow[],
  aal: string,
  wanted: { name?: string; phone?: string; type?: FactorType } = {},
) {
  try {
    const { name = '', phone = null, type = 'totp' } = wanted;
    return planEnrolment(factors, aal, { type, name, phone }, limits, now);
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const codes = { type: 'recovery_code' as const };
const codes0 = { factor_type: 'recovery_code' as const };
const old = { created_at: '2026-01-01T11:55:00+00:00' };
test.each([
  ['the first', [], 'aal1', {}, []],
  ['beside one that was not proven', [pending('a')], 'aal1', {}, []],
  ['beside one that was, without showing it', [factor('a')], 'aal1', {}, 'insufficient_aal'],
  ['beside one that was, showing it', [factor('a')], 'aal2', {}, []],
  ['in the place of those that waited too long', [pending('a', old), pending('b')], 'aal1', {}, ['a']],
  [
    'for a phone that was not proven',
    [pending('a', { phone: '1' }), pending('b')],
    'aal1',
    { phone: '1' },
    ['a'],
  ],
  ['proven ones do not wait', [factor('a', old)], 'aal2', {}, []],
  ['too many', [pending('a'), pending('b'), pending('c')], 'aal1', {}, 'too_many_enrolled_mfa_factors'],
  ['too many proven', [factor('a'), factor('b')], 'aal2', {}, 'too_many_enrolled_mfa_factors'],
  [
    'recovery codes do not count',
    [factor('a'), factor('r', { factor_type: 'recovery_code' })],
    'aal2',
    {},
    [],
  ],
  [
    'a name that is taken',
    [pending('a', { friendly_name: 'x' })],
    'aal1',
    { name: 'x' },
    'mfa_factor_name_conflict',
  ],
  ['no name is like no other', [pending('a')], 'aal1', { name: '' }, []],
  ['the name of one that goes', [pending('a', { ...old, friendly_name: 'x' })], 'aal1', { name: 'x' }, ['a']],
  [
    'a number that was proven',
    [factor('a', { phone: '1' })],
    'aal2',
    { phone: '1' },
    'mfa_verified_factor_exists',
  ],
  ['recovery codes alone', [pending('a')], 'aal1', codes, 'mfa_recovery_codes_sole_factor'],
  ['recovery codes beside a full house', [factor('a'), factor('b'), pending('c')], 'aal2', codes, []],
  ['a second set', [factor('a'), factor('r', codes0)], 'aal2', codes, 'mfa_verified_factor_exists'],
])('enrolment: %s', (_name, factors, aal, wanted, expected) => {
  expect(outcome(factors, aal, wanted)).toEqual(expected);
});

test('the proof of a factor takes along what was begun of its type', () => {
  const all = [factor('a'), pending('b'), pending('c'), pending('d', { factor_type: 'phone' })];
  const after = factorsAfterProof(all, { id: 'c', type: 'totp' }, now);
  expect(after.map(({ id, status }) => [id, status])).toEqual([
    ['a', 'verified'],
    ['c', 'verified'],
    ['d', 'unverified'],
  ]);
});

test('a session is low where its user has more to show', () => {
  expect([isLow('aal1', []), isLow('aal1', [pending('a')]), isLow('aal1', [factor('a')])]).toEqual([
    false,
    false,
    true,
  ]);
  expect(isLow('aal2', [factor('a')])).toBe(false);
});

test('the access token of a low session ends with what it is allowed', () => {
  const begunAt = new Date(now.getTime() - 60_000);
  expect(tokenSeconds(3600, { isLow: true, begunAt, lowMs: 600_000 }, now)).toBe(540);
  expect(tokenSeconds(300, { isLow: true, begunAt, lowMs: 600_000 }, now)).toBe(300);
  expect(tokenSeconds(3600, { isLow: true, begunAt, lowMs: 0 }, now)).toBe(3600);
  expect(tokenSeconds(3600, { isLow: false, begunAt, lowMs: 600_000 }, now)).toBe(3600);
});

test('an address for apps escapes what would be read as something else', () => {
  expect(otpauthUri({ issuer: 'a:b/c?d', account: 'x&y@z', secret: 'KEY' })).toBe(
    'otpauth://totp/a%3Ab%2Fc%3Fd:x%26y%40z?algorithm=SHA1&digits=6&issuer=a%3Ab%2Fc%3Fd&period=30&secret=KEY',
  );
});

test('a recovery code is read as people type it', () => {
  const code = recoveryCode(Buffer.from('00443214c74254b635cf', 'hex'));
  expect(code).toBe('0123456789abcdef');
  for (const typed of [
    '0123-4567-89AB-CDEF',
    ' o123 4567 89ab cdef ',
    'OL23456789abcdef',
    '0i23456789ABCDEF',
  ]) {
    expect(normalizeRecoveryCode(typed)).toBe(code);
  }
});

/** Guesses of somebody who comes back the moment he may, for so many days. */
function guessesIn(days: number, waits: readonly number[]): number {
  let [ms, level, count] = [0, 0, 0];
  for (let last = 0; ms <= days * 86_400_000; count++) {
    level = 1 + Math.max(0, level - (ms - last) / FORGET_ONE_MS);
    last = ms;
    ms += waits[Math.min(Math.round(level), waits.length) - 1] ?? 0;
  }
  return count;
}

test('brute force is hopeless: the figures of the comment', () => {
  for (const days of [1, 30, 365, 3650]) {
    expect(guessesIn(days, FACTOR_WAITS_MS)).toBeLessThanOrEqual(days + 18);
    expect(guessesIn(days, USER_WAITS_MS)).toBeLessThanOrEqual(days + 23);
  }
  const inAYear = guessesIn(365, USER_WAITS_MS);
  expect(inAYear).toBeLessThan(400);
  expect(1 - (1 - 3e-6) ** inAYear).toBeLessThan(0.0012);
  expect(FACTOR_WAITS_MS.slice(0, 7)).toEqual([0, 0, 0, 0, 30_000, 60_000, 120_000]);
  expect(USER_WAITS_MS.findIndex((ms) => ms > 0)).toBe(9);
  expect([FACTOR_WAITS_MS.at(-1), USER_WAITS_MS.at(-1)]).toEqual([86_400_000, 86_400_000]);
});

test('the longest of several locks counts, rounded up', () => {
  expect(lockedSeconds(now, null, null)).toBe(0);
  expect(lockedSeconds(now, now.getTime(), null)).toBe(0);
  expect(lockedSeconds(now, now.getTime() + 1, now.getTime() + 1001)).toBe(2);
});

test.each([
  ['aal1', 'aal2', 'aal1'],
  ['aal2', 'aal1', 'aal1'],
  ['aal2', 'aal2', 'aal2'],
  ['aal3', 'aal2', 'aal2'],
  [undefined, 'aal2', 'aal1'],
  ['', 'aal2', 'aal1'],
  ['aal9', 'aal2', 'aal1'],
])('a token that claims %s of a session at %s is worth %s', (claimed, shown, expected) => {
  expect(lowerAal(claimed, shown)).toBe(expected);
});

test.each([
  ['gotrue-js/2.119.1', true],
  ['supabase-js/2.116.0; runtime=node; runtime-version=24.1.0', true],
  ['auth-js/3.0.0', true],
  ['gotrue-js/2.115.0', false],
  ['supabase-js/2.0', false],
  ['supabase-js-web/2.117.0', false],
  ['gotrue-js/0.0.0', false],
  ['gotrue-js/1.200.0', false],
  ['supabase-ssr/0.12.7 createBrowserClient', false],
  ['supabase-py/supabase_auth v2.117.0', false],
  ['', false],
  [undefined, false],
])('the client %j knows recovery codes: %s', (client, expected) => {
  expect(knowsRecoveryCodes(client)).toBe(expected);
});
