import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
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

  it('is one who is listed, wherever the system keeps that', async () => {
    // A directory of its own, as `getent` asks one that is not in the files.
    const folder = mkdtempSync(join(tmpdir(), 'croft-getent-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const lines = `#!/bin/sh\n[ "$2 $3" = "group team" ] && echo 'team:x:70:eve,ada,bob'\n`;
    writeFileSync(join(folder, 'getent'), lines, { mode: 0o755 });
    const elsewhere = new Directory(programsIn(folder));
    const isListed = (name: string) => isMember(elsewhere, { name, uid: 1000, gid: 1000 }, 'team');
    expect([await isListed('ada'), await isListed('ad'), await isListed('ada,bob')]).toEqual([
      true,
      false,
      false,
    ]);
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
