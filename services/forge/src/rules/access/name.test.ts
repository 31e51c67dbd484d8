import { describe, expect, it } from 'vitest';
import { checkRepositoryName, isLogin, MAX_LOGIN, proposeLogins } from './name.ts';

describe('repository names (decisions §5)', () => {
  it.each(['a', 'A.b_c-d', '.github', '_', '1', 'x'.repeat(100), 'git', 'a.gitx'])('allows %s', (name) => {
    expect(() => checkRepositoryName(name)).not.toThrow();
  });
  it.each([
    '',
    '.',
    '..',
    '-a',
    'a.git',
    'A.GIT',
    'a.lock',
    'a.wiki',
    'a b',
    'a/b',
    'ä',
    'a\n',
    'x'.repeat(101),
    'search',
  ])('refuses %j', (name) => {
    expect(() => checkRepositoryName(name)).toThrow(/Name|reserved/);
  });
});

describe('logins', () => {
  const first = (wanted: string | undefined, email: string) =>
    proposeLogins(wanted, email, 'abcdef01-x').next().value;

  it.each([
    ['ada', 'x@y', 'ada'],
    [undefined, 'grace.hopper@y', 'grace.hopper'],
    ['', 'grace@y', 'grace'],
    ['Jörg Müller', 'x@y', 'Jorg-Muller'],
    ['../../etc', 'x@y', 'etc'],
    ['!!!', '@', 'member'],
    ['admin', 'x@y', 'admin-2'],
    ['x.git', 'x@y', 'x.git-2'],
    ['a'.repeat(60), 'x@y', 'a'.repeat(MAX_LOGIN)],
  ])('%j with %j becomes %s', (wanted, email, login) => {
    expect(first(wanted, email)).toBe(login);
  });

  it('every proposal can be used, they differ, and the last is nobody else’s', () => {
    const all = [...proposeLogins('x'.repeat(40), '', 'abcdef01-2345-6789-abcd-ef0123456789')];
    expect(all.every(isLogin)).toBe(true);
    expect(new Set(all).size).toBe(all.length);
    expect(all.at(-1)).toBe('abcdef01-2345-6789-abcd-ef0123456789');
  });
});
