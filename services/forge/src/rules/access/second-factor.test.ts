import { expect, test } from 'vitest';
import { isAppCode, provenFactors, showsFactor } from './second-factor.ts';

const factor = (id: string, more: object = {}) => ({ id, status: 'verified', factor_type: 'totp', ...more });

test.each([
  ['nothing', undefined, []],
  ['a user of an older service', {}, []],
  ['what is no list', { factors: 'x' }, []],
  ['one that was never proven', { factors: [factor('a', { status: 'unverified' })] }, []],
  ['of any type', { factors: [factor('a', { factor_type: 'webauthn' })] }, ['a']],
  [
    'several',
    {
      factors: [
        factor('never'),
        factor('first', { last_challenged_at: '2026-01-01T00:00:00Z' }),
        factor('last', { last_challenged_at: '2026-01-02T00:00:00Z' }),
      ],
    },
    ['last', 'first', 'never'],
  ],
])('proven factors of %s', (_what, user, expected) => {
  expect(provenFactors(user).map(({ id }) => id)).toEqual(expected);
});

test.each([
  ['123456', true],
  ['123 456', true],
  ['1234567', false],
  ['K4M9-X7QP-2AB8-HT3Z', false],
  ['', false],
])('the code of an app: %j', (code, expected) => {
  expect(isAppCode(code)).toBe(expected);
});

test.each([
  ['aal2', true],
  ['aal1', false],
  [undefined, false],
])('a session of %j shows a factor: %j', (aal, expected) => {
  expect(showsFactor(aal)).toBe(expected);
});
