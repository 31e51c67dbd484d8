import { expect, test } from 'vitest';
import { administratorRole } from './administrator-role.ts';

test.each([
  ['admin', ['service_role', 'supabase_admin'], 'service_role'],
  ['admin', ['service_role', 'admin'], 'admin'],
  ['', ['service_role'], 'service_role'],
  ['admin', [], undefined],
])('group %s, roles %j → %s', (JWT_ADMIN_GROUP_NAME, JWT_ADMIN_ROLES, expected) => {
  expect(administratorRole({ JWT_ADMIN_GROUP_NAME, JWT_ADMIN_ROLES })).toBe(expected);
});
