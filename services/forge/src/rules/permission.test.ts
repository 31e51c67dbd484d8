import { expect, it } from 'vitest';
import { decidePermission, includes } from './permission.ts';

const owner = { userId: 1, isAdmin: false, publicOnly: false };
const stranger = { userId: 2, isAdmin: false, publicOnly: false };
const admin = { userId: 3, isAdmin: true, publicOnly: false };

it.each([
  ['owner', owner, true, 'admin'],
  ['owner', owner, false, 'admin'],
  ['owner with a public-only token', { ...owner, publicOnly: true }, true, 'none'],
  ['owner with a public-only token', { ...owner, publicOnly: true }, false, 'admin'],
  ['stranger', stranger, true, 'none'],
  ['stranger', stranger, false, 'read'],
  ['site admin', admin, true, 'admin'],
  ['site admin with a public-only token', { ...admin, publicOnly: true }, true, 'none'],
  ['nobody', undefined, true, 'none'],
  ['nobody', undefined, false, 'read'],
] as const)('%s (case %#)', (_who, caller, isPrivate, permission) => {
  expect(decidePermission({ ownerId: 1, private: isPrivate }, caller)).toBe(permission);
});

it('a permission includes the ones below it', () => {
  expect(includes('admin', 'write')).toBe(true);
  expect(includes('read', 'write')).toBe(false);
  expect(includes('none', 'read')).toBe(false);
});
