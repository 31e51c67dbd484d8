import { expect, test } from 'vitest';
import {
  asksBothAddresses,
  CURRENT_CONFIRMED,
  emailChangeStep,
  NEW_CONFIRMED,
  NONE_CONFIRMED,
} from './email-change.ts';

test.each([
  ['the new one first', NONE_CONFIRMED, NEW_CONFIRMED, true, 'wait-for-other'],
  ['the present one first', NONE_CONFIRMED, CURRENT_CONFIRMED, true, 'wait-for-other'],
  ['the new one second', CURRENT_CONFIRMED, NEW_CONFIRMED, true, 'change'],
  ['the present one second', NEW_CONFIRMED, CURRENT_CONFIRMED, true, 'change'],
  ['the new one twice', NEW_CONFIRMED, NEW_CONFIRMED, true, 'wait-for-other'],
  ['the new one alone, where that is enough', NONE_CONFIRMED, NEW_CONFIRMED, false, 'change'],
  ['the present one alone, where one is enough', NONE_CONFIRMED, CURRENT_CONFIRMED, false, 'wait-for-other'],
] as const)('%s', (_name, status, now, both, step) => {
  expect(emailChangeStep(status, now, both)).toBe(step);
});

test.each([
  ['ada@example.com', true, false, true],
  ['ada@example.com', false, false, false],
  ['ada@example.com', true, true, false],
  [null, true, false, false],
  ['', true, false, false],
])('from %s, secure %s, autoconfirm %s: both %s', (email, secure, autoconfirm, both) => {
  const policy = { MAILER_SECURE_EMAIL_CHANGE_ENABLED: secure, MAILER_AUTOCONFIRM: autoconfirm };
  expect(asksBothAddresses(email, policy)).toBe(both);
});
