import { expect, test } from 'vitest';
import { isProvenTo } from './proven.ts';

const AT = '2030-01-01T00:00:00Z';

test.each([
  ['nobody proved anything', null, null, false, { email: false, phone: false }],
  ['the address was proven', AT, null, false, { email: true, phone: true }],
  ['a number was proven, maybe a stranger’s', null, AT, false, { email: false, phone: true }],
  ['both were proven', AT, AT, false, { email: true, phone: true }],
  ['an administrator gave it, and nobody proved anything', null, null, true, { email: false, phone: false }],
  ['an administrator gave both, and the number was proven', null, AT, true, { email: true, phone: true }],
  ['an administrator gave both, and the address was proven', AT, null, true, { email: true, phone: true }],
])('%s', (_name, email_confirmed_at, phone_confirmed_at, given_by_admin, expected) => {
  const user = { email_confirmed_at, phone_confirmed_at, given_by_admin };
  expect({ email: isProvenTo('email', user), phone: isProvenTo('phone', user) }).toEqual(expected);
});
