import { expect, test } from 'vitest';
import { decideSignUp } from './sign-up.ts';

test.each([
  ['nobody has the address', undefined, false, 'create'],
  ['nobody has the address, autoconfirm', undefined, true, 'create'],
  ['step 13: an unconfirmed account gets another mail', { confirmed: false }, false, 'confirm-again'],
  ['an unconfirmed account is confirmed at once with autoconfirm', { confirmed: false }, true, 'confirm-now'],
  ['a duplicate is disguised', { confirmed: true }, false, 'disguise'],
  ['C2: a duplicate with autoconfirm is refused', { confirmed: true }, true, 'refuse'],
] as const)('%s', (_rule, existing, autoconfirm, expected) => {
  expect(decideSignUp(existing, autoconfirm)).toBe(expected);
});
