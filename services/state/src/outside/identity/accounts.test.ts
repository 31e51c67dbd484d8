import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programsIn } from '../programs.ts';
import { findAccount, isMember } from './accounts.ts';
import { Directory } from './directory.ts';

const directory = new Directory(programsIn('/usr/bin:/bin'));

const root = { name: 'root', uid: 0, gid: 0 };

describe('an account', () => {
  it('is found by name and by uid', async () => {
    expect(await findAccount(directory, 'root')).toEqual(root);
    expect(await findAccount(directory, 0)).toEqual(root);
  });

  it.each([
    '0',
    '',
    'no-such-user',
    '-x',
    '--help',
    'root:x',
    'root\n',
    'x'.repeat(1000),
    '../root',
    'r*',
    3_999_999,
    -1,
  ])('is not found by %j', async (key) => {
    expect(await findAccount(directory, key)).toBeUndefined();
  });
});

describe('a member of a group', () => {
  it('is one for whom it is the primary group', async () => {
    expect(await isMember(directory, root, 'root')).toBe(true);
    expect(await isMember(directory, { name: 'root', uid: 0, gid: 1 }, 'root')).toBe(false);
  });

  it('is one who is listed', async (context) => {
    const groups = readFileSync('/etc/group', 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
    const found = groups.find(([, , , members]) => members !== undefined && members !== '');
    if (found === undefined) context.skip('no group of this machine lists anybody');
    const [group, , , members] = found as [string, string, string, string];
    const name = members.split(',')[0] as string;
    const account = await findAccount(directory, name);
    expect(await isMember(directory, { name, uid: account?.uid ?? 1, gid: 3_999_999 }, group)).toBe(true);
    expect(await isMember(directory, { name: `${name}x`, uid: 1, gid: 3_999_999 }, group)).toBe(false);
  });

  it.each(['0', '', 'no-such-group', '-x'])('is nobody of %j', async (group) => {
    expect(await isMember(directory, root, group)).toBe(false);
  });
});

it('without getent the files say who is who', async () => {
  const none = new Directory(programsIn('/nonexistent'));
  expect(await findAccount(none, 'root')).toEqual(root);
  expect(await isMember(none, root, 'root')).toBe(true);
  expect(await findAccount(none, 'no-such-user')).toBeUndefined();
});
