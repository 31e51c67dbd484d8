import { describe, expect, it } from 'vitest';
import { mountOf, parseMounts } from './mounts.ts';

const TEXT = String.raw`27 1 0:41 /@ / rw,relatime - btrfs /dev/vda2 rw,space_cache=v2,subvolid=256,subvol=/@
46 27 0:41 /@home /home rw,relatime shared:3 master:1 - btrfs /dev/vda2 rw,subvol=/@home
47 27 0:22 / /mnt/a\040b\134c ro,nosuid - tmpfs tmp\040fs rw
48 27 0:30 / /mnt rw - ext4 /dev/vdb ro,data=ordered
49 46 0:31 / /home/ada rw - ext4 /dev/vdc rw
nonsense
`;

describe('parseMounts', () => {
  it('reads every line that makes sense', () => {
    expect(parseMounts(TEXT)).toEqual([
      {
        id: '27',
        device: '0:41',
        root: '/@',
        path: '/',
        type: 'btrfs',
        source: '/dev/vda2',
        readOnly: false,
      },
      {
        id: '46',
        device: '0:41',
        root: '/@home',
        path: '/home',
        type: 'btrfs',
        source: '/dev/vda2',
        readOnly: false,
      },
      {
        id: '47',
        device: '0:22',
        root: '/',
        path: '/mnt/a b\\c',
        type: 'tmpfs',
        source: 'tmp fs',
        readOnly: true,
      },
      { id: '48', device: '0:30', root: '/', path: '/mnt', type: 'ext4', source: '/dev/vdb', readOnly: true },
      {
        id: '49',
        device: '0:31',
        root: '/',
        path: '/home/ada',
        type: 'ext4',
        source: '/dev/vdc',
        readOnly: false,
      },
    ]);
  });

  it('takes names that are not ASCII as they are', () => {
    const line = String.raw`1 2 0:1 / /gr\303\266ße rw - btrfs x rw`;
    expect(parseMounts(line)[0]?.path).toBe('/größe');
  });
});

describe('mountOf', () => {
  const mounts = parseMounts(TEXT);

  it.each([
    ['/', '/'],
    ['/etc/hosts', '/'],
    ['/home', '/home'],
    ['/homes', '/'],
    ['/home/ada/x', '/home/ada'],
    ['/home/bob', '/home'],
  ])('%s is shown by %s', (path, mount) => {
    expect(mountOf(mounts, path)?.path).toBe(mount);
  });

  it('takes the last of several at one place', () => {
    const over = [...mounts, { ...mounts[1]!, root: '/@other' }];
    expect(mountOf(over, '/home/bob')?.root).toBe('/@other');
  });
});
