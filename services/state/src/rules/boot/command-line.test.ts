import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './command-line.ts';

describe('parseCommandLine', () => {
  it.each([
    ['root=ZFS=rpool/ROOT/debian ro', 'rpool/ROOT/debian'],
    ['root=zfs:rpool/ROOT/debian@croft_x_0a1b2c3d', 'rpool/ROOT/debian@croft_x_0a1b2c3d'],
    ['root=ZFS=a/b root=ZFS=a/c', 'a/c'],
    ['root=zfs:AUTO', undefined],
    ['root=ZFS=rpool', undefined],
    ['root=UUID=ZFS=a/b', undefined],
    ['', undefined],
  ])('%s has the root %s', (text, root) => {
    expect(parseCommandLine(text).root).toBe(root);
  });

  it('reads what is about states', () => {
    expect(parseCommandLine('BOOT_IMAGE=/a/vmlinuz-6 statesvc.state=x statesvc.revert=userdata\n')).toEqual({
      state: 'x',
      users: true,
      kernel: 'vmlinuz-6',
    });
  });
});
