import { expect, test } from 'vitest';
import { isStillFor } from './still-for.ts';

const user = { email: 'ada@example.com', phone: '14155550100', email_change: null, phone_change: null };
const changing = { ...user, email_change: 'new@example.com', phone_change: '14155550101' };

test.each([
  ['confirmation_token', user.email, user, true],
  ['confirmation_token', user.phone, user, true],
  ['confirmation_token', 'former@example.com', user, false],
  ['confirmation_token', '14155550109', user, false],
  ['confirmation_token', changing.email_change, changing, false],
  ['recovery_token', user.email, user, true],
  ['recovery_token', 'former@example.com', user, false],
  ['phone_token', user.phone, user, true],
  ['phone_token', '14155550109', user, false],
  ['phone_token', changing.phone_change, changing, false],
  ['phone_token', user.phone, { ...user, phone: null }, false],
  ['reauthentication_token', user.email, user, true],
  ['reauthentication_token', user.phone, user, true],
  ['reauthentication_token', 'former@example.com', user, false],
  ['email_change_token_new', changing.email_change, changing, true],
  ['email_change_token_new', changing.email_change, user, false],
  ['email_change_token_new', user.email, changing, false],
  ['email_change_token_current', user.email, changing, true],
  ['email_change_token_current', user.email, user, false],
  ['email_change_token_current', 'former@example.com', changing, false],
  ['phone_change_token', changing.phone_change, changing, true],
  ['phone_change_token', changing.phone_change, user, false],
  ['phone_change_token', user.phone, changing, false],
] as const)('%s that went to %s', (tokenType, relatesTo, now, expected) => {
  expect(isStillFor({ tokenType, relatesTo, user: now })).toBe(expected);
});
