import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram, skipWithout } from '@croft/testing';
import { expect, it } from 'vitest';
import { daemonOn, poolFor } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { run } from './drivers/zfs-programs.ts';

useZfs();

// As installers lay it out: `/boot` in a pool of its own, or a folder of the root.
it.for([
  ['a dataset of a pool for boot loaders', 'BOOT/debian', ''],
  ['the first dataset of a pool', '', ''],
  ['a folder of a dataset', 'ROOT', '/boot'],
])('GRUB reads the kernels that its menu names, in %s', async ([, dataset = '', folder = ''], context) => {
  if (!hasProgram('grub-fstest')) skipWithout(context, 'grub-fstest (apt install grub-common)');
  const storage = await poolFor(context);
  const pool = storage.addPool();
  const name = [pool, ...(dataset === '' ? [] : [dataset])].join('/');
  const places = ['-o', 'mountpoint=/kernels', '-o', 'canmount=noauto'];
  if (dataset === '') storage.zfs('set', 'mountpoint=/kernels', name);
  else storage.zfs('create', '-p', ...places, name);
  if (dataset !== '') storage.zfs('mount', name);
  const boot = join(storage.base, 'kernels', folder);
  mkdirSync(join(boot, 'grub'), { recursive: true });
  writeFileSync(join(boot, 'grub/grub.cfg'), '# the distribution\n');
  writeFileSync(join(boot, 'vmlinuz-6.1.0'), 'the kernel');
  writeFileSync(join(boot, 'initrd.img-6.1.0'), 'the initial file system');
  const daemon = await daemonOn(storage, {
    settings: { STATESVC_BOOT_LOADER: 'grub', STATESVC_BOOT_FOLDER: boot },
  });
  await daemon.save('good');
  expect((await daemon.call('UpdateBootMenu')).code).toBe(0);
  const menu = readFileSync(join(boot, 'grub/croft.cfg'), 'utf8');
  await daemon.service.close(0);
  const named = (command: string) => new RegExp(`^ +${command} '([^']+)'`, 'm').exec(menu)?.[1];
  expect(named('search --no-floppy --label --set=root')).toBe(pool);
  // GRUB reads what is on the disk.
  storage.zfs('unmount', name);
  storage.exportPools();
  try {
    const image = join(storage.base, `${pool}.img`);
    const read = (path?: string) => run('grub-fstest', image, 'cat', `(loop0)${path}`);
    expect(run('grub-fstest', image, 'ls', '--', '-l', '(loop0)')).toContain(`Label \`${pool}'`);
    expect([read(named('linux')), read(named('initrd'))]).toEqual(['the kernel', 'the initial file system']);
  } finally {
    storage.importPools();
  }
});

it('a state whose kernel is no longer there is offered with another one, and that is told', async (context) => {
  const storage = await poolFor(context);
  const boot = join(storage.base, 'boot');
  mkdirSync(join(boot, 'grub'), { recursive: true });
  for (const file of ['grub/grub.cfg', 'vmlinuz-6.1.0']) writeFileSync(join(boot, file), '# a file');
  appendFileSync(storage.settings.STATESVC_CMDLINE_FILE as string, 'BOOT_IMAGE=/vmlinuz-6.1.0\n');
  const daemon = await daemonOn(storage, {
    settings: { STATESVC_BOOT_LOADER: 'grub', STATESVC_BOOT_FOLDER: boot },
  });
  expect((await daemon.call('CommitBoot')).code).toBe(0);
  for (const name of ['old', 'older']) await daemon.save(name);
  const told = async () =>
    (await daemon.call('UpdateBootMenu')).lines.filter((line) => line.startsWith('warning: '));
  expect(await told()).toEqual([]);
  rmSync(join(boot, 'vmlinuz-6.1.0'));
  writeFileSync(join(boot, 'vmlinuz-6.2.0'), 'another');
  expect(await told()).toEqual([
    `warning: vmlinuz-6.1.0 is no longer in ${boot}, so the boot menu starts these with the newest kernel, and one without modules for that may come up without drivers: older, old`,
  ]);
  expect(readFileSync(join(boot, 'grub/croft.cfg'), 'utf8')).toContain("vmlinuz-6.2.0'");
});
