import { expect, it } from 'vitest';
import { decidePermission, includes, type PermissionObject } from './permission.ts';

const somebody = { userId: 2, isAdmin: false, publicOnly: false };
const narrow = { ...somebody, publicOnly: true };
const admin = { userId: 3, isAdmin: true, publicOnly: false };
const open: PermissionObject = {
  private: false,
  ownerVisibility: 'public',
  granted: undefined,
  isMember: false,
};
const hidden = { ...open, private: true };
const owned = { level: 4, code: 4, issues: 4, pulls: 4 };

it.each([
  ['the owner of a private one', somebody, { ...hidden, granted: owned }, 'owner'],
  ['the owner with a public-only token', narrow, { ...hidden, granted: owned }, 'none'],
  ['the owner of a public one with a public-only token', narrow, { ...open, granted: owned }, 'owner'],
  ['a stranger', somebody, hidden, 'none'],
  ['a stranger at a public one', somebody, open, 'read'],
  ['a site admin', admin, hidden, 'owner'],
  ['a site admin with a public-only token', { ...admin, publicOnly: true }, hidden, 'none'],
  ['nobody', undefined, hidden, 'none'],
  ['nobody at a public one', undefined, open, 'read'],
  [
    'nobody at a public one of a limited organization',
    undefined,
    { ...open, ownerVisibility: 'limited' },
    'none',
  ],
  [
    'somebody at a public one of a limited organization',
    somebody,
    { ...open, ownerVisibility: 'limited' },
    'read',
  ],
  [
    'a narrow token at one of a limited organization',
    narrow,
    { ...open, ownerVisibility: 'limited' },
    'none',
  ],
  [
    'a stranger at a public one of a private organization',
    somebody,
    { ...open, ownerVisibility: 'private' },
    'none',
  ],
  ['a member at it', somebody, { ...open, ownerVisibility: 'private', isMember: true }, 'read'],
  ['a member at a private one no team of his has', somebody, { ...hidden, isMember: true }, 'none'],
  ['a reader', somebody, { ...hidden, granted: { level: 1, code: 1, issues: 1, pulls: 1 } }, 'read'],
  ['an admin', somebody, { ...hidden, granted: { level: 3, code: 3, issues: 3, pulls: 3 } }, 'admin'],
] as const)('%s', (_who, caller, repository, level) => {
  expect(decidePermission(repository, caller)).toEqual({
    level,
    units: { code: level, issues: level, pulls: level },
  });
});

it('a team that only writes issues', () => {
  const granted = { level: 0, code: 0, issues: 2, pulls: 0 };
  expect(decidePermission({ ...hidden, granted }, somebody)).toEqual({
    level: 'read',
    units: { code: 'none', issues: 'write', pulls: 'none' },
  });
  expect(decidePermission({ ...open, granted }, somebody).units).toEqual({
    code: 'read',
    issues: 'write',
    pulls: 'read',
  });
});

it('a level includes the ones below it', () => {
  expect(includes('admin', 'write')).toBe(true);
  expect(includes('read', 'write')).toBe(false);
  expect(includes('none', 'read')).toBe(false);
});
